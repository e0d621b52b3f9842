// Bodies of posts from the application's own table (port PostBodies): any table or view of one
// MariaDB server that has a column of the posts' ids. Fanline only reads it.
//
// One statement for kIdsPerStatement posts, which the server itself ends at the time limit: what
// nobody waits for any more is no load there either. The server must be a primary. A replica that
// lags would not have a new post yet, and a post that is not there is taken for gone.
//
// Values: BIT, YEAR and integers up to INT become numbers, and so do FLOAT and DOUBLE. BIGINT and
// DECIMAL become decimal text, whatever the value: readers of JSON would round them. Bytes
// (BINARY, BLOB) become base64. All else is text as MariaDB writes it, times in UTC.
//
// Blocking; one object per thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/ports/post_bodies.h"

namespace fanline::mysql {

struct BodiesConfig {
  Config server;      // one address
  std::string table;  // these three: identifiers (sql_text.h)
  std::string id_column;
  std::vector<std::string> columns;
  std::chrono::milliseconds time_limit{1000};  // of all statements for a page together, about
};

class MysqlPostBodies final : public PostBodies {
 public:
  static constexpr size_t kIdsPerStatement = 50;
  // When so much has been looked up, the rest is left to the next page. A statement may bring more:
  // what kIdsPerStatement bodies take is held for the moment.
  static constexpr size_t kMostBytes = size_t{4} << 20;

  // Ends the process when a name is no identifier. `away`: see ShardConnections; may be empty.
  explicit MysqlPostBodies(BodiesConfig config, ShardConnections::Away away = {});

  const std::vector<std::string>& columns() const override { return config_.columns; }
  Status Read(const std::vector<PostId>& posts, BodiesRead* out) override;

  // Never: the server answers that there is no such table or column, that this user may not read
  // it, or that the id column holds no integers; the message names the option to change. Later: the
  // server is away, and nothing was found wrong.
  [[nodiscard]] Status CheckTable();

 private:
  std::string SelectSql() const;
  void ReadAll(Connection& connection, const std::vector<PostId>& posts, BodiesRead* out) const;

  const BodiesConfig config_;
  const std::string select_;
  ShardConnections connections_;
};

}  // namespace fanline::mysql
