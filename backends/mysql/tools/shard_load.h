// One shard's part of a bulk load (bulk_load.h): two tables of edges, two of counters, and the
// numbers that check them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline::mysql {

// The rows that one direction of one shard was given, and the result.
struct LoadCount {
  uint64_t rows_before = 0;  // including tombstones
  uint64_t live_before = 0;
  uint64_t sent = 0;
  uint64_t taken = 0;
  uint64_t counted = 0;  // sum of the counters afterwards
};

// Writes the next row's text, "src\tdst\n" or "dst\tbucket\tsrc\n", in primary key order. Returns
// false at the end.
using NextRow = std::function<bool(std::string& text)>;
using RowsSent = std::function<void(uint64_t rows)>;

class ShardLoad {
 public:
  ShardLoad(Connection& connection, uint64_t unix_us, RowsSent sent)
      : connection_(connection), unix_us_(unix_us), sent_(std::move(sent)) {}

  // Each loads one direction and sets its counters. Throws MysqlError.
  LoadCount LoadFollowing(const NextRow& next);
  LoadCount LoadFollower(const NextRow& next);

 private:
  struct Direction {
    const char* table;
    const char* columns;
    const char* owner;  // the column of the user whom the counter counts for
    const char* counters;
    const char* counter;
  };

  LoadCount Load(const Direction& direction, const NextRow& next);
  void SendRows(const Direction& direction, const NextRow& next, LoadCount& count);
  void WriteCounters(const Direction& direction);
  uint64_t Number(const std::string& sql);

  Connection& connection_;
  const uint64_t unix_us_;
  const RowsSent sent_;
};

// "" if the numbers of one direction agree.
std::string DisagreementOf(const LoadCount& count);

}  // namespace fanline::mysql
