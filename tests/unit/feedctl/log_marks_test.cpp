#include "feedctl/log_marks.h"

#include <gtest/gtest.h>

namespace fanline::feedctl {
namespace {

std::vector<uint64_t> IdsOf(const std::vector<mysql::LoggedRow>& rows) {
  std::vector<uint64_t> ids;
  for (const mysql::LoggedRow& row : rows) ids.push_back(row.row.id);
  return ids;
}

TEST(LogMarks, OnlyRowsWhoseHintIsAcknowledgedAreHandedOutAndEachOnce) {
  LogMarks marks;
  for (uint64_t hint = 1; hint <= 4; ++hint)
    marks.Sent(hint, {0, {100 + hint, ChangeKind::kEdge, {}, 1}});
  marks.Answer(3, Status::Done());
  marks.Answer(1, Status::Done());
  marks.Answer(2, Status::Later("kafka", "away"));
  marks.Answer(9, Status::Done());  // a hint without a row: nothing had changed
  EXPECT_TRUE(marks.Take(3).empty());
  EXPECT_EQ(IdsOf(marks.Take(2)), (std::vector<uint64_t>{103, 101}));
  EXPECT_TRUE(marks.Take(0).empty());
  marks.Answer(4, Status::Done());
  marks.Answer(4, Status::Done());
  EXPECT_EQ(IdsOf(marks.Take(0)), std::vector<uint64_t>{104});
}

}  // namespace
}  // namespace fanline::feedctl
