#include "backends/mysql/reader_truth.h"

#include <functional>

#include "backends/mysql/chunks.h"
#include "backends/mysql/statements.h"

namespace fanline::mysql {
namespace {

// What one statement over a chunk of authors answers, row by row.
template <typename T>
struct ChunkedRead {
  size_t chunk;
  std::function<std::string(std::span<const UserId>)> sql;
  std::function<T(const Row&)> value;
};

// Each author is asked for on their own shard. A shard's answers are appended as a whole: Run may
// have to read twice.
template <typename T>
Status ReadByShard(ShardConnections& connections, const ShardMap& map,
                   const std::vector<UserId>& authors, const ChunkedRead<T>& read,
                   std::vector<T>* out) {
  std::vector<std::vector<UserId>> by_shard(map.shards());
  for (const UserId author : authors) by_shard[map.ShardOf(author)].push_back(author);
  for (Shard shard = 0; shard < by_shard.size(); ++shard) {
    if (by_shard[shard].empty()) continue;
    std::vector<T> values;
    Status status = connections.Run(shard, [&](Connection& connection) {
      values.clear();
      ForEachChunk(by_shard[shard], read.chunk, [&](std::span<const UserId> chunk) {
        connection.Query(read.sql(chunk),
                         [&](const Row& row) { values.push_back(read.value(row)); });
      });
    });
    if (!status.done()) return status;
    out->insert(out->end(), values.begin(), values.end());
  }
  return Status::Done();
}

}  // namespace

MysqlReaderTruth::MysqlReaderTruth(const Config& config, const ShardMap& map)
    : connections_(config), map_(map) {}

Status MysqlReaderTruth::Followees(UserId reader, std::vector<UserId>* out) {
  const size_t before = out->size();
  return connections_.Run(map_.ShardOf(reader), [&](Connection& connection) {
    out->resize(before);
    connection.Query(FolloweesSql(reader),
                     [&](const Row& row) { out->push_back(UserId{row.UInt64(1)}); });
  });
}

Status MysqlReaderTruth::LastAt(const std::vector<UserId>& authors,
                                std::vector<AuthorLastAt>* out) {
  const ChunkedRead<AuthorLastAt> read = {
      kListLimit, LastAtSql, [](const Row& row) {
        return AuthorLastAt{UserId{row.UInt64(1)}, row.Int64(2)};
      }};
  return ReadByShard(connections_, map_, authors, read, out);
}

Status MysqlReaderTruth::Outboxes(const std::vector<UserId>& authors,
                                  const std::optional<Position>& after, uint32_t limit,
                                  std::vector<Item>* out) {
  const ChunkedRead<Item> read = {
      kUnionLimit, [&](std::span<const UserId> chunk) { return OutboxesSql(chunk, after, limit); },
      [](const Row& row) {
        return Item{PostId{row.UInt64(2)}, row.Int64(3)};
      }};
  return ReadByShard(connections_, map_, authors, read, out);
}

}  // namespace fanline::mysql
