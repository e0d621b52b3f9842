#include "fanline/consuming/offset_ledger.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/unit/seeded.h"

namespace fanline {
namespace {

TEST(OffsetLedger, DiesOfAnOffsetFinishedTwiceOrNeverReceived) {
  OffsetLedger ledger;
  ledger.Reset(0);
  EXPECT_DEATH(ledger.Finished(0), "not received");
  EXPECT_TRUE(ledger.Received(0));
  EXPECT_TRUE(ledger.Received(1));
  ledger.Finished(1);
  EXPECT_DEATH(ledger.Finished(1), "finished twice");
  EXPECT_DEATH(ledger.Finished(2), "not received");
}

// What the ledger must agree with: every offset ever seen, in a map.
struct PlainModel {
  int64_t next = 0;
  std::map<int64_t, bool> finished;  // by received offset

  int64_t Committable() const {
    for (const auto& [offset, done] : finished) {
      if (!done) return offset;
    }
    return next;
  }
  std::vector<int64_t> Open() const {
    std::vector<int64_t> open;
    for (const auto& [offset, done] : finished) {
      if (!done) open.push_back(offset);
    }
    return open;
  }
};

TEST(OffsetLedger, AgreesWithAPlainModelInAnySchedule) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 200; ++round) {
    OffsetLedger ledger;
    PlainModel model;
    for (int step = 0; step < 200; ++step) {
      const auto open = model.Open();
      if (random.OneIn(50)) {
        model = {.next = static_cast<int64_t>(random.Below(1000)), .finished = {}};
        ledger.Reset(model.next);
      } else if (!open.empty() && random.OneIn(2)) {
        const int64_t offset = open[random.Below(open.size())];
        ledger.Finished(offset);
        model.finished[offset] = true;
      } else {
        // Mostly the next one, sometimes a gap, sometimes one seen before.
        const int64_t offset = model.next + static_cast<int64_t>(random.Below(5)) - 1;
        const bool fresh = offset >= model.next;
        ASSERT_EQ(ledger.Received(offset), fresh);
        if (fresh) {
          model.finished[offset] = false;
          model.next = offset + 1;
        }
      }
      ASSERT_EQ(ledger.committable(), model.Committable());
      ASSERT_EQ(ledger.open(), model.Open().size());
      ASSERT_EQ(ledger.committable() + static_cast<int64_t>(ledger.span()), model.next);
    }
  }
}

}  // namespace
}  // namespace fanline
