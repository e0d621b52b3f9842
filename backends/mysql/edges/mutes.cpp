#include "backends/mysql/edges/mutes.h"

#include <string>
#include <utility>
#include <vector>

#include "backends/mysql/sql/sql_text.h"
#include "fanline/ports/change_log.h"

namespace fanline::mysql {
namespace {

Mutes ReadLocked(Connection& connection, UserId reader, const char* locking) {
  Mutes mutes;
  connection.Query(Sql("SELECT version, authors FROM mute WHERE reader_id = ", reader, locking),
                   [&](const Row& row) { mutes = UnpackMutes(row.UInt64(1), row.Text(2)); });
  return mutes;
}

// "x'00000000000000ff'"
std::string HexOf(const std::vector<UserId>& authors) {
  std::string sql = "x'";
  for (const unsigned char byte : PackAuthors(authors)) {
    sql += "0123456789abcdef"[byte >> 4];
    sql += "0123456789abcdef"[byte & 15];
  }
  return sql + "'";
}

}  // namespace

Mutes ReadMutesRow(Connection& connection, UserId reader) {
  return ReadLocked(connection, reader, "");
}

// The row is made only if it is also written (friendships.cpp says why). If another transaction
// makes it first, this one decides by that row.
MutesChanged ChangeMutesRow(Connection& connection, const ChangeMutes& change) {
  MutesChanged out;
  connection.Transact([&] {
    const Mutes before = ReadLocked(connection, change.user, " FOR UPDATE");
    out = Decide(before, change);
    if (out.changed && before.version == 0) {
      connection.Execute(Sql("INSERT INTO mute (reader_id, version, authors) VALUES (", change.user,
                             ",0,'') ON DUPLICATE KEY UPDATE version = version"));
      out = Decide(ReadLocked(connection, change.user, " FOR UPDATE"), change);
    }
    if (!out.changed) return false;
    connection.Execute(Sql("UPDATE mute SET version = ", out.now.version, ", authors = ",
                           HexOf(out.now.authors), " WHERE reader_id = ", change.user));
    connection.Execute(Sql("INSERT INTO log1 (kind, src, dst, ver, state, pos) VALUES (",
                           ChangeKind::kMutes, ",", change.user, ",", change.user, ",",
                           out.now.version, ",1,", change.unix_us / 1000, ")"));
    return true;
  });
  return out;
}

Status ScanMutes(ShardConnections& connections, Shard shard,
                 const std::function<void(UserId reader, uint64_t mark)>& each, uint32_t page) {
  UserId last{};
  uint32_t read = page;
  while (read == page) {
    const std::string sql =
        Sql("SELECT reader_id, version FROM mute WHERE authors <> '' AND reader_id > ", last,
            " ORDER BY reader_id LIMIT ", page);
    std::vector<std::pair<UserId, uint64_t>> rows;
    const Status status = connections.Run(shard, [&](Connection& connection) {
      rows.clear();
      connection.Query(
          sql, [&](const Row& row) { rows.emplace_back(UserId{row.UInt64(1)}, row.UInt64(2)); });
    });
    if (!status.done()) return status;
    for (const auto& [reader, mark] : rows) each(reader, mark);
    read = static_cast<uint32_t>(rows.size());
    if (!rows.empty()) last = rows.back().first;
  }
  return Status::Done();
}

}  // namespace fanline::mysql
