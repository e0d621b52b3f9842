#include "tests/integration/mysql/shards.h"

#include <cstdlib>
#include <memory>
#include <string_view>

#include "backends/mysql/installation/installation.h"
#include "backends/mysql/posts/post_rows.h"
#include "backends/mysql/sql/errors.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/check.h"
#include "fanline/model/item.h"

namespace fanline::mysql {
namespace {

constexpr int kUnknownThread = 1094;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  FANLINE_CHECK(value != nullptr, "run through stack/with-stack");
  return value;
}

constexpr const char* kTables[] = {"installation",
                                   "following",
                                   "follower",
                                   "mute",
                                   "user_rel",
                                   "user_fan",
                                   "log1",
                                   "friend_request",
                                   "repair_log",
                                   "author",
                                   "author_post",
                                   "author_mode",
                                   "repost",
                                   "range_owner",
                                   "range_start",
                                   "setting",
                                   "recount",
                                   "counter_sweep",
                                   "log_scan",
                                   "full_scan",
                                   "tombstone_sweep",
                                   "forward_restore",
                                   "removal_allowance",
                                   "migration"};

}  // namespace

Config ConfigFromEnvironment() {
  Config config;
  std::string why;
  config.shards = ParseShards(Environment("FANLINE_MYSQL_SHARDS"), &why);
  FANLINE_CHECK(config.shards.size() >= 2, "two shards or more");
  config.user = Environment("FANLINE_MYSQL_USER");
  config.password.text = Environment("FANLINE_MYSQL_PASSWORD");
  return config;
}

bool OnMySql() {
  const char* which = std::getenv("FANLINE_STACK_SQL");
  return which != nullptr && std::string_view(which) == "mysql";
}

int64_t Counted(Connection& connection, const std::string& what) {
  int64_t sum = 0;
  connection.Query("SHOW " + what, [&](const Row& row) { sum += std::stoll(row.Text(2)); });
  return sum;
}

// In few steps: the servers limit how many a recursion has.
std::string Numbers(uint64_t last) {
  return "(WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT 2 * seq + bit FROM numbers,"
         " (SELECT 0 AS bit UNION ALL SELECT 1) AS bits WHERE 2 * seq + bit <= " +
         std::to_string(last) + ") SELECT seq FROM numbers) AS numbers";
}

bool KillIfThere(Connection& connection, const std::string& id) {
  try {
    connection.Execute("KILL CONNECTION " + id);
    return true;
  } catch (const MysqlError& error) {
    if (error.code() != kUnknownThread) throw;
    return false;
  }
}

void MakeProcedure(Connection& connection, const std::string& name, const std::string& rest) {
  connection.Execute("DROP PROCEDURE IF EXISTS " + name);
  connection.Execute("CREATE PROCEDURE " + name + rest);
}

Shards::Shards() {
  for (Shard shard = 0; shard < count(); ++shard) {
    connections_.push_back(std::make_unique<Connection>(config_, shard));
    on(shard).Open();
    on(shard).Execute("SET @fixture = 1");  // the test speaks: see stack/statement_shapes.py
    for (const char* table : kTables) {
      on(shard).Execute(std::string("DROP TABLE IF EXISTS ") + table);
    }
  }
  FANLINE_CHECK(MakeTables(config_).done(), "the schema can be applied");
}

int64_t Shards::Number(Shard shard, const std::string& sql) {
  int64_t number = 0;
  on(shard).Query(sql, [&](const Row& row) { number = row.Int64(1); });
  return number;
}

int64_t Shards::Total(const std::string& sql) {
  int64_t total = 0;
  for (Shard shard = 0; shard < count(); ++shard) total += Number(shard, sql);
  return total;
}

void Shards::PutFollower(UserId dst, UserId src, bool live) {
  of(dst).Execute("INSERT INTO follower (dst, bucket, src, ver, state, pos) VALUES (" +
                  ToString(dst) + "," + std::to_string(BucketOf(src)) + "," + ToString(src) +
                  ",1," + (live ? "1" : "0") +
                  ",1) ON DUPLICATE KEY UPDATE state = " + (live ? "1" : "0"));
}

void Shards::PutFollowers(UserId dst, const std::vector<UserId>& sources) {
  constexpr size_t kRows = 1000;
  for (size_t begin = 0; begin < sources.size(); begin += kRows) {
    std::string sql = "INSERT INTO follower (dst, bucket, src, ver, state, pos) VALUES ";
    for (size_t i = begin; i < std::min(begin + kRows, sources.size()); ++i) {
      sql += (i == begin ? "(" : ",(") + ToString(dst) + "," +
             std::to_string(BucketOf(sources[i])) + "," + ToString(sources[i]) + ",1,1,1)";
    }
    of(dst).Execute(sql);
  }
}

void Shards::PutPost(UserId author, PostId post, const PostState& state) {
  const auto flag = [](bool set) { return std::string(set ? ",1" : ",0"); };
  of(author).Execute(
      "INSERT INTO author_post (author_id, post_id, created_at_ms, deleted, hidden, pushed,"
      " visibility_version, edit_version, original_id, original_author) VALUES (" +
      ToString(author) + "," + ToString(post) + "," +
      (state.created_at ? std::to_string(*state.created_at) : "NULL") + flag(state.deleted) +
      flag(state.hidden) + flag(state.pushed) + "," + std::to_string(state.visibility_version) +
      "," + std::to_string(state.edit_version) + "," +
      (state.original ? ToString(state.original.post) + "," + ToString(state.original.author)
                      : "NULL,NULL") +
      ")");
}

PostState Shards::ReadPost(UserId author, PostId post) {
  PostState state;
  of(author).Query(
      "SELECT created_at_ms, deleted, hidden, pushed, visibility_version, edit_version,"
      " original_id, original_author FROM author_post WHERE author_id = " +
          ToString(author) + " AND post_id = " + ToString(post),
      [&](const Row& row) {
        state = {row.OptionalInt64(1), row.Bool(2),   row.Bool(3),       row.Bool(4),
                 row.UInt64(5),        row.UInt64(6), OriginalOf(row, 7)};
      });
  return state;
}

UserId Shards::UserOn(Shard shard, uint64_t n) const {
  for (uint64_t raw = 1;; ++raw) {
    if (map_.ShardOf(UserId{raw}) == shard && --n == 0) return UserId{raw};
  }
}

}  // namespace fanline::mysql
