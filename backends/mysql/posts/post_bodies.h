// Bodies of posts from the application's own table (fanline/ports/post_bodies.h). It may be any
// table or view of one SQL server with a column of the posts' ids. Fanline only reads it.
//
// One statement reads kIdsPerStatement posts. The server itself ends it at the time limit, so that
// it carries no load for pages that nobody waits for any more. The server must be a primary. A
// replica that lags would not have a new post yet, and a missing post is taken for deleted.
//
// Values: BIT, YEAR and integers up to INT become numbers, and so do FLOAT and DOUBLE. BIGINT and
// DECIMAL always become decimal text, because readers of JSON would round them. Bytes (BINARY,
// BLOB) become base64. Everything else becomes text as the server writes it, times in UTC.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "backends/mysql/sql/shard_port.h"
#include "fanline/ports/post_bodies.h"

namespace fanline::mysql {

struct BodiesConfig {
  Config server;      // one address
  std::string table;  // these three: identifiers (sql_text.h)
  std::string id_column;
  std::vector<std::string> columns;
  std::chrono::milliseconds time_limit{1000};  // for all statements of a page together, roughly
};

struct BodiesService {
  static constexpr const char* kName = "bodies";  // in log lines
  static constexpr PoolLimits kLimits{};
  static constexpr bool kReadsTruth = true;
  static constexpr bool kReopens = true;

  static constexpr size_t kIdsPerStatement = 50;
  // After this many bytes the rest is left to the next page. A single statement may bring more:
  // memory holds up to kIdsPerStatement bodies for a moment.
  static constexpr size_t kMostBytes = size_t{4} << 20;

  BodiesAnswered Do(Connection& connection, const ReadBodies& request) const;

  BodiesConfig config;
};
using MysqlPostBodies = ShardPort<BodiesService, ReadBodies>;

// Never: the server says that the table or a column does not exist, that this user may not read it,
// or that the id column holds no integers. The message names the option to change. Later: the
// server is away, so nothing is known to be wrong. Ends the process if a name is not an identifier.
[[nodiscard]] Status CheckBodiesTable(const BodiesConfig& config);

}  // namespace fanline::mysql
