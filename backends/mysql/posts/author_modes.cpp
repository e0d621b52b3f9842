#include "backends/mysql/posts/author_modes.h"

#include <string>
#include <utility>
#include <vector>

#include "backends/mysql/sql/sql_text.h"
#include "backends/mysql/sql/statements.h"

namespace fanline::mysql {

AuthorMode ReadAuthorMode(Connection& connection, UserId author) {
  AuthorMode mode;
  connection.Query(ModesSql({&author, 1}), [&](const Row& row) {
    mode = {.pull = row.Bool(2), .marked = row.Bool(4), .announced = row.Bool(3)};
  });
  return mode;
}

// MariaDB shows the stored columns to each assignment until it has made that one.
void SetAuthorMode(Connection& connection, UserId author, bool pull) {
  std::string sql = "INSERT INTO author_mode (author_id, pull, marked) VALUES (";
  AppendId(sql, author);
  sql += pull ? ",1,1)" : ",0,0)";
  sql += " ON DUPLICATE KEY UPDATE pull = VALUES(pull), marked = GREATEST(marked, VALUES(marked))";
  connection.Execute(sql);
}

Status ScanMarkedAuthors(ShardConnections& connections, Shard shard,
                         const std::function<void(UserId author, bool announced)>& each) {
  constexpr size_t kPage = 10'000;
  uint64_t last = 0;
  std::vector<std::pair<UserId, bool>> page;
  do {
    const std::string sql =
        "SELECT author_id, announced FROM author_mode WHERE marked = 1 AND"
        " author_id > " +
        std::to_string(last) + " ORDER BY author_id LIMIT " + std::to_string(kPage);
    const Status status = connections.Run(shard, [&](Connection& connection) {
      page.clear();
      connection.Query(
          sql, [&](const Row& row) { page.emplace_back(UserId{row.UInt64(1)}, row.Bool(2)); });
    });
    if (!status.done()) return status;
    for (const auto& [author, announced] : page) each(author, announced);
    if (!page.empty()) last = Raw(page.back().first);
  } while (page.size() == kPage);
  return Status::Done();
}

}  // namespace fanline::mysql
