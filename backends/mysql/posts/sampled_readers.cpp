#include "backends/mysql/posts/sampled_readers.h"

#include <string>
#include <utility>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"
#include "backends/mysql/sql/statements.h"

namespace fanline::mysql {

std::map<UserId, uint32_t> ReadSamples(Connection& connection, const std::vector<UserId>& readers) {
  std::map<UserId, uint32_t> samples;
  ForEachChunk(readers, kIdsLimit, [&](std::span<const UserId> chunk) {
    connection.Query(SamplesSql(chunk), [&](const Row& row) {
      samples[UserId{row.UInt64(1)}] = static_cast<uint32_t>(row.UInt64(2));
    });
  });
  return samples;
}

void SetSample(Connection& connection, const SampledReader& to) {
  std::string sql = "INSERT INTO sampled_reader (reader_id, one_in, by_hand) VALUES (";
  AppendId(sql, to.reader);
  sql += ',';
  AppendNumber(sql, to.one_in);
  sql += to.by_hand ? ",1)" : ",0)";
  // What was set by hand since the limit was compared stays. Assigned in this order.
  sql +=
      " ON DUPLICATE KEY UPDATE one_in = IF(by_hand > VALUES(by_hand), one_in, VALUES(one_in)),"
      " by_hand = GREATEST(by_hand, VALUES(by_hand))";
  connection.Execute(sql);
}

Status ScanFollowingMany(ShardConnections& connections, Shard shard, uint64_t above,
                         const std::function<void(UserId user, uint64_t follows)>& each) {
  std::vector<std::pair<UserId, uint64_t>> found;
  const std::string sql =
      "SELECT user_id, following_cnt FROM user_rel WHERE following_cnt > " + std::to_string(above);
  const Status status = connections.Run(shard, [&](Connection& connection) {
    found.clear();
    connection.Query(
        sql, [&](const Row& row) { found.emplace_back(UserId{row.UInt64(1)}, row.UInt64(2)); });
  });
  for (const auto& [user, follows] : found) each(user, follows);
  return status;
}

Status ScanSampledReaders(ShardConnections& connections, Shard shard,
                          const std::function<void(const SampledReader&)>& each) {
  constexpr size_t kPage = 10'000;
  uint64_t last = 0;
  std::vector<SampledReader> page;
  do {
    const std::string sql =
        "SELECT reader_id, one_in, by_hand, GREATEST(COALESCE(following_cnt, 0), 0)"
        " FROM sampled_reader LEFT JOIN user_rel ON user_id = reader_id WHERE reader_id > " +
        std::to_string(last) + " ORDER BY reader_id LIMIT " + std::to_string(kPage);
    const Status status = connections.Run(shard, [&](Connection& connection) {
      page.clear();
      connection.Query(sql, [&](const Row& row) {
        page.push_back({UserId{row.UInt64(1)}, static_cast<uint32_t>(row.UInt64(2)), row.Bool(3),
                        row.UInt64(4)});
      });
    });
    if (!status.done()) return status;
    for (const SampledReader& reader : page) each(reader);
    if (!page.empty()) last = Raw(page.back().reader);
  } while (page.size() == kPage);
  return Status::Done();
}

}  // namespace fanline::mysql
