#include "tests/integration/mysql/relation_shards.h"

#include <gtest/gtest.h>

namespace fanline::mysql {
namespace {

// Users whose counter is not the number of their live rows, or is below zero; without a counter's
// row it is 0.
std::string WrongCounters(const std::string& rows, const std::string& owner,
                          const std::string& counters, const std::string& counter) {
  const std::string live = "(SELECT " + owner + " AS user_id, COUNT(*) AS n FROM " + rows +
                           " WHERE state = 1 GROUP BY " + owner + ") AS live";
  return "SELECT (SELECT COUNT(*) FROM " + live + " LEFT JOIN " + counters +
         " AS c USING (user_id) WHERE COALESCE(c." + counter +
         ", 0) <> n) + (SELECT COUNT(*) FROM " + counters + " AS c LEFT JOIN " + live +
         " USING (user_id) WHERE c." + counter + " <> COALESCE(n, 0) OR c." + counter + " < 0)";
}

}  // namespace

std::string RelationShards::Forward(UserId src, UserId dst) {
  return RowOf(src, "following", src, dst);
}
std::string RelationShards::Reverse(UserId src, UserId dst) {
  return RowOf(dst, "follower", src, dst);
}

std::string RelationShards::RowOf(UserId owner, const std::string& table, UserId src, UserId dst) {
  std::string text = "-";
  of(owner).Query(
      "SELECT ver, state, pos FROM " + table + " WHERE src = " + ToString(src) +
          " AND dst = " + ToString(dst),
      [&](const Row& row) { text = row.Text(1) + " " + row.Text(2) + " " + row.Text(3); });
  return text;
}

int64_t RelationShards::FollowingCount(UserId user) {
  return Number(map().ShardOf(user),
                "SELECT following_cnt FROM user_rel WHERE user_id = " + ToString(user));
}

int64_t RelationShards::FansCount(UserId user) {
  return Number(map().ShardOf(user),
                "SELECT fans_cnt FROM user_fan WHERE user_id = " + ToString(user));
}

std::set<std::string> RelationShards::Rows(const std::string& table) {
  std::set<std::string> rows;
  for (Shard shard = 0; shard < count(); ++shard) {
    on(shard).Query("SELECT CONCAT_WS(' ', src, dst, ver, state, pos, delivery) FROM " + table,
                    [&](const Row& row) { rows.insert(row.Text(1)); });
  }
  return rows;
}

void RelationShards::ExpectCountersMatchRows() {
  EXPECT_EQ(0, Total(WrongCounters("following", "src", "user_rel", "following_cnt")));
  EXPECT_EQ(0, Total(WrongCounters("follower", "dst", "user_fan", "fans_cnt")));
}

void RelationShards::ExpectConsistent() {
  EXPECT_EQ(Rows("following"), Rows("follower"));
  ExpectCountersMatchRows();
}

}  // namespace fanline::mysql
