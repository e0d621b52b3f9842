#include "backends/mysql/posts/author_modes.h"

#include <optional>
#include <string>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

Duration Milliseconds(int64_t count) { return std::chrono::milliseconds(count); }

}  // namespace

AuthorMode ReadAuthorMode(Connection& connection, UserId author) {
  const auto modes = ReadAuthorModes(connection, {author});
  return modes.empty() ? AuthorMode{} : modes.begin()->second;
}

std::map<UserId, AuthorMode> ReadAuthorModes(Connection& connection,
                                             const std::vector<UserId>& authors) {
  std::map<UserId, AuthorMode> modes;
  QueryChunks(
      connection, authors, kIdsLimit,
      [](std::span<const UserId> chunk) {
        return Sql("SELECT author_id, pull, ", kNowMs,
                   " - NULLIF(announced, 0), marked, by_hand,"
                   " version, ",
                   kNowMs, " - since, live, lag_ms, ", kNowMs,
                   " - weighed FROM author_mode FORCE INDEX (PRIMARY) WHERE author_id IN ",
                   InList(chunk));
      },
      [&](const Row& row) {
        std::optional<Duration> announced;
        if (const auto ms = row.OptionalInt64(3)) announced = Milliseconds(*ms);
        modes[UserId{row.UInt64(1)}] = {.pull = row.Bool(2),
                                        .marked = row.Bool(4),
                                        .announced = announced,
                                        .by_hand = row.Bool(5),
                                        .version = row.UInt64(6),
                                        .since = Milliseconds(row.Int64(7)),
                                        .weight = {.live = row.UInt64(8),
                                                   .lag = Milliseconds(row.Int64(9)),
                                                   .age = Milliseconds(row.Int64(10))}};
      });
  return modes;
}

// MariaDB assigns from left to right, and a column has its stored value until its own assignment.
// So `since` comes before `pull`.
void SetAuthorMode(Connection& connection, UserId author, bool pull) {
  connection.Execute(
      Sql("INSERT INTO author_mode (author_id, pull, marked, by_hand, version, since) VALUES (",
          author, ",", pull, ",", pull, ",1,1,", kNowMs,
          ") ON DUPLICATE KEY UPDATE since = IF(pull = VALUES(pull), since, VALUES(since)),"
          " pull = VALUES(pull), marked = GREATEST(marked, VALUES(marked)), by_hand = 1,"
          " version = version + 1"));
}

void LeaveAuthorMode(Connection& connection, UserId author) {
  connection.Execute(
      Sql("UPDATE author_mode SET by_hand = 0, version = version + 1 WHERE author_id = ", author));
}

Status ScanMarkedAuthors(ShardConnections& connections, Shard shard,
                         const std::function<void(UserId author, bool announced)>& each) {
  constexpr uint32_t kPage = 10'000;
  UserId last{};
  uint32_t read = kPage;
  while (read == kPage) {
    const std::string sql =
        Sql("SELECT author_id, announced FROM author_mode WHERE marked = 1 AND author_id > ", last,
            " ORDER BY author_id LIMIT ", kPage);
    read = 0;
    const Status status = connections.Run(shard, [&](Connection& connection) {
      connection.Query(sql, [&](const Row& row) {
        ++read;
        last = UserId{row.UInt64(1)};
        each(last, row.Bool(2));
      });
    });
    if (!status.done()) return status;
  }
  return Status::Done();
}

AuthorWeighed WeightService::Do(Connection& connection, const WeighAuthor& request) {
  const auto lag = std::chrono::duration_cast<std::chrono::milliseconds>(request.lag);
  connection.Execute(Sql("INSERT INTO author_mode (author_id, live, lag_ms, weighed) VALUES (",
                         request.author, ",", request.live, ",", lag.count(), ",", kNowMs,
                         ") ON DUPLICATE KEY UPDATE live = VALUES(live), lag_ms = VALUES(lag_ms),"
                         " weighed = VALUES(weighed)"));
  return {};
}

}  // namespace fanline::mysql
