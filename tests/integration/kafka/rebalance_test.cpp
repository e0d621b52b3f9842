// Members come and go while records flow: every record is delivered to somebody, and a member that
// leaves orderly leaves nothing to be delivered twice.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "backends/kafka/consumer.h"
#include "tests/adapters/kafka/member.h"
#include "tests/adapters/kafka/raw_log.h"
#include "tests/integration/kafka/real_broker.h"

namespace fanline::kafka {
namespace {

using std::chrono::milliseconds;
using test::CommittedOffset;
using test::Member;
using test::OffsetsFromTo;
using test::RealBrokerTest;

// A member that does at once what a daemon does in time: seeks what it is given, and orders a
// commit of all it was handed.
class EagerMember {
 public:
  explicit EagerMember(const ConsumerOptions& options) : member(options) {}

  void Turn() {
    member.events.clear();
    member.Turn(milliseconds(20), 50);
    ConsumerOrders orders;
    for (ConsumerEvent& event : member.events) {
      if (const auto* assigned = std::get_if<PartitionAssigned>(&event)) {
        orders.seek.push_back({assigned->partition, assigned->start});
        owned.insert(assigned->partition);
      } else if (const auto* revoked = std::get_if<PartitionRevoked>(&event)) {
        owned.erase(revoked->partition);
        ++revocations;
      } else if (const auto* record = std::get_if<Record>(&event)) {
        EXPECT_TRUE(owned.contains(record->partition)) << "a record of a revoked partition";
        delivered[record->partition].push_back(record->offset);
        orders.commit.push_back({record->partition, record->offset + 1});
      }
    }
    member.Apply(orders);
  }

  Member member;
  std::set<int32_t> owned;
  size_t revocations = 0;
  std::map<int32_t, std::vector<int64_t>> delivered;
};

class RebalanceTest : public RealBrokerTest {
 protected:
  static constexpr int32_t kPartitions = 4;

  // Turns all members until `condition` holds.
  template <typename Condition>
  static bool Until(const std::vector<EagerMember*>& members, Condition condition) {
    const auto until = std::chrono::steady_clock::now() + Member::kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      for (EagerMember* member : members) member->Turn();
    }
    return true;
  }
  void PublishToAll(int records) {
    for (int32_t partition = 0; partition < kPartitions; ++partition)
      Publish(topic, partition, records);
  }
  bool CommittedInAll(int64_t offset) const {
    for (int32_t partition = 0; partition < kPartitions; ++partition)
      if (CommittedOffset(brokers, topic + "-group", topic, partition) != offset) return false;
    return true;
  }
  static size_t Count(const std::vector<const EagerMember*>& members) {
    size_t count = 0;
    for (const EagerMember* member : members)
      for (const auto& [partition, offsets] : member->delivered) count += offsets.size();
    return count;
  }
};

TEST_F(RebalanceTest, WhatOneMemberLosesAnotherGoesOnWithExactlyWhereItStopped) {
  CreateTopic(topic, kPartitions);
  PublishToAll(500);
  auto ann = std::make_unique<EagerMember>(GroupMember());
  // Ann alone has everything, and is in the middle of it when Bob comes.
  ASSERT_TRUE(Until({ann.get()}, [&] { return Count({ann.get()}) > 300; }));
  EXPECT_EQ(ann->owned.size(), 4u);

  auto bob = std::make_unique<EagerMember>(GroupMember());
  ASSERT_TRUE(Until({ann.get(), bob.get()},
                    [&] { return ann->owned.size() == 2 && bob->owned.size() == 2; }));
  EXPECT_EQ(ann->revocations, 4u);
  PublishToAll(100);
  ASSERT_TRUE(Until({ann.get(), bob.get()}, [&] {
    return Count({ann.get(), bob.get()}) >= 600 * kPartitions;
  }));

  // Bob leaves orderly; Ann gets all back.
  bob->member.consumer().Close(std::chrono::seconds(5));
  ASSERT_TRUE(Until({ann.get()}, [&] { return ann->owned.size() == 4; }));
  PublishToAll(100);
  ASSERT_TRUE(Until({ann.get()}, [&] {
    return Count({ann.get(), bob.get()}) >= 700 * kPartitions;
  }));

  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    std::vector<int64_t> all = ann->delivered[partition];
    const auto& bobs = bob->delivered[partition];
    all.insert(all.end(), bobs.begin(), bobs.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, OffsetsFromTo(0, 700)) << "partition " << partition;
    // What each was handed came in order.
    EXPECT_TRUE(std::is_sorted(bobs.begin(), bobs.end()));
  }
}

// Both would take the place from each other for ever.
TEST_F(RebalanceTest, AMemberGoesWhenAnotherComesWithItsInstanceId) {
  CreateTopic(topic, kPartitions);
  ConsumerOptions one = GroupMember();
  one.client.properties["group.instance.id"] = "one";
  EagerMember ann(one);
  ASSERT_TRUE(Until({&ann}, [&] { return ann.owned.size() == 4; }));

  EagerMember twin(one);
  Consumer& fenced = ann.member.consumer();
  ASSERT_TRUE(Until({&twin, &ann}, [&] { return fenced.Fenced().has_value(); }));
  EXPECT_THAT(*fenced.Fenced(), ::testing::HasSubstr("must have a group.instance.id of its own"));
  EXPECT_TRUE(ann.owned.empty()) << "whoever had them is told";
  ASSERT_TRUE(Until({&twin}, [&] { return twin.owned.size() == 4; }));
  ann.Turn();
  EXPECT_TRUE(ann.member.events.empty());
  EXPECT_FALSE(twin.member.consumer().Fenced());
}

TEST_F(RebalanceTest, AMemberThatStoppedPollingLosesItsPartitionsAndLearnsIt) {
  CreateTopic(topic, kPartitions);
  PublishToAll(20);
  ConsumerOptions drowsy = GroupMember();
  drowsy.max_poll_interval = drowsy.session_timeout;
  EagerMember ann(drowsy);
  ASSERT_TRUE(Until({&ann}, [&] { return CommittedInAll(20); }));

  EagerMember bob(GroupMember());
  // Ann is not turned: the group waits for her, then goes on without.
  ASSERT_TRUE(Until({&bob}, [&] { return bob.owned.size() == 4; }));
  PublishToAll(10);
  ASSERT_TRUE(Until({&bob}, [&] { return Count({&bob}) == 10 * kPartitions; }));

  ASSERT_TRUE(Until({&ann, &bob}, [&] { return ann.revocations == 4; }));
  EXPECT_EQ(Count({&ann}), 20u * kPartitions);  // nothing of what was Bob's
}

}  // namespace
}  // namespace fanline::kafka
