#include "backends/mysql/tools/shard_load.h"

#include "backends/mysql/sql/memory_file.h"

namespace fanline::mysql {
namespace {

constexpr uint64_t kRowsPerStatement = 100'000;  // one transaction; bounds the undo log, shows
                                                 // progress

}  // namespace

LoadCount ShardLoad::LoadFollowing(const NextRow& next) {
  return Load({"following", "src, dst", "src", "user_rel", "following_cnt"}, next);
}

LoadCount ShardLoad::LoadFollower(const NextRow& next) {
  return Load({"follower", "dst, bucket, src", "dst", "user_fan", "fans_cnt"}, next);
}

LoadCount ShardLoad::Load(const Direction& direction, const NextRow& next) {
  const std::string table = direction.table;
  LoadCount count;
  count.rows_before = Number("SELECT COUNT(*) FROM " + table);
  count.live_before = Number("SELECT COUNT(*) FROM " + table + " WHERE state = 1");
  SendRows(direction, next, count);
  WriteCounters(direction);
  count.counted = Number(std::string("SELECT COALESCE(SUM(") + direction.counter + "), 0) FROM " +
                         direction.counters);
  return count;
}

void ShardLoad::SendRows(const Direction& direction, const NextRow& next, LoadCount& count) {
  std::string text;
  for (bool more = true; more;) {
    text.clear();
    uint64_t rows = 0;
    while (rows < kRowsPerStatement && (more = next(text))) ++rows;
    if (rows == 0) return;
    const MemoryFile file(text);
    count.taken += connection_.Execute("LOAD DATA LOCAL INFILE '" + file.path() + "' INTO TABLE " +
                                       direction.table + " (" + direction.columns +
                                       ") SET state = 1, ver = " + std::to_string(unix_us_) +
                                       ", pos = " + std::to_string(unix_us_ / 1000));
    count.sent += rows;
    sent_(rows);
  }
}

void ShardLoad::WriteCounters(const Direction& direction) {
  const std::string counter = direction.counter;
  connection_.Execute(std::string("INSERT INTO ") + direction.counters + " (user_id, " + counter +
                      ") SELECT " + direction.owner + ", COUNT(*) FROM " + direction.table +
                      " FORCE INDEX (PRIMARY) WHERE state = 1 GROUP BY " + direction.owner +
                      " ON DUPLICATE KEY UPDATE " + counter + " = VALUES(" + counter + ")");
}

uint64_t ShardLoad::Number(const std::string& sql) {
  uint64_t number = 0;
  connection_.Query(sql, [&](const Row& row) { number = row.UInt64(1); });
  return number;
}

std::string DisagreementOf(const LoadCount& count) {
  if (count.sent - count.taken > count.rows_before) {
    return std::to_string(count.sent) + " rows were sent and " + std::to_string(count.taken) +
           " taken, but only " + std::to_string(count.rows_before) + " can have been there already";
  }
  if (count.counted != count.live_before + count.taken) {
    return "the counters add up to " + std::to_string(count.counted) + ", not to the " +
           std::to_string(count.live_before + count.taken) + " live rows";
  }
  return {};
}

}  // namespace fanline::mysql
