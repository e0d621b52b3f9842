#include "backends/mysql/repairs/counter_walk.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

struct Table {
  const char* name;
  const char* owner;
};
constexpr Table kTables[] = {
    {"user_rel", "user_id"}, {"user_fan", "user_id"}, {"following", "src"}, {"follower", "dst"}};

// How many rows were read from one table, and the owner of the last.
struct Read {
  uint64_t rows = 0;
  UserId last{};
};

// Reads the owners among the next rows of every table. Columns: number of the table, owner, rows
// read.
std::string OwnersSql(UserId after, uint32_t rows) {
  std::string sql;
  for (size_t i = 0; i < std::size(kTables); ++i) {
    const auto& [name, owner] = kTables[i];
    AppendSql(sql, sql.empty() ? "SELECT " : " UNION ALL SELECT ", i,
              ", owner, COUNT(*) FROM (SELECT ", owner, " AS owner FROM ", name,
              " FORCE INDEX (PRIMARY) WHERE ", owner, " > ", after, " ORDER BY ", owner, " LIMIT ",
              rows, ") AS t", i, " GROUP BY owner");
  }
  return sql;
}

}  // namespace

// If a table has more rows than were read, its owners are known only up to the last one read. The
// lowest of these bounds what is known of the shard. Owners above it are read again.
OwnersPage ReadOwners(Connection& connection, const ShardMap& map, UserId after, uint32_t rows) {
  OwnersPage page;
  std::array<Read, std::size(kTables)> reads{};
  connection.Query(OwnersSql(after, rows), [&](const Row& row) {
    Read& read = reads[row.UInt64(1)];
    page.owners.push_back(UserId{row.UInt64(2)});
    read.rows += row.UInt64(3);
    read.last = std::max(read.last, page.owners.back());
  });
  for (const Read& read : reads) {
    if (read.rows == rows) page.known = std::min(page.known.value_or(read.last), read.last);
  }
  SortUnique(page.owners);
  std::erase_if(page.owners, [&](UserId owner) {
    return (page.known && owner > *page.known) || map.ShardOf(owner) != connection.shard();
  });
  return page;
}

}  // namespace fanline::mysql
