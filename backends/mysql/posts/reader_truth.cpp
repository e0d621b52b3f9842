#include "backends/mysql/posts/reader_truth.h"

#include <algorithm>
#include <functional>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/statements.h"

namespace fanline::mysql {
namespace {

// A statement over a chunk of authors, and the value of each of its rows.
template <typename T>
struct ChunkedRead {
  size_t chunk;
  std::function<std::string(std::span<const UserId>)> sql;
  std::function<T(const Row&)> value;
};

// Asks for each author on the author's shard. A shard's values are appended together at the end,
// because Run may call twice.
template <typename T>
Status ReadByShard(ShardConnections& connections, const ShardMap& map,
                   const std::vector<UserId>& authors, const ChunkedRead<T>& read,
                   std::vector<T>* out) {
  std::vector<std::vector<UserId>> by_shard(map.shards());
  for (const UserId author : authors) by_shard[map.ShardOf(author)].push_back(author);
  for (Shard shard = 0; shard < by_shard.size(); ++shard) {
    if (by_shard[shard].empty()) continue;
    std::vector<T> values;
    Status status = connections.ReadUnconfirmed(shard, [&](Connection& connection) {
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

// Reads either the pushed ones of `posts` or the others, in ascending order as in the index.
void ReadHalf(Connection& connection, const std::vector<PostsOf>& posts, bool pushed,
              const TimeSpan& span, uint32_t limit, ItemsRead* out) {
  std::vector<UserId> authors;
  for (const PostsOf& one : posts) {
    if (one.pushed == pushed) authors.push_back(one.author);
  }
  std::sort(authors.begin(), authors.end());
  ForEachChunk(authors, kIdsLimit, [&](std::span<const UserId> chunk) {
    const auto room = static_cast<uint32_t>(limit - out->items.size());
    uint32_t found = 0;
    UserId last{};
    if (room > 0) {
      connection.Query(ItemsSql(chunk, pushed, span, room), [&](const Row& row) {
        last = UserId{row.UInt64(1)};
        out->items.push_back({PostId{row.UInt64(2)}, row.Int64(3)});
        ++found;
      });
    }
    if (found < room) return;
    // The limit is reached. Authors behind the last one found were not read.
    if (room > 0) out->partial = PostsOf{last, pushed};
    const auto unread =
        room > 0 ? std::upper_bound(chunk.begin(), chunk.end(), last) : chunk.begin();
    for (auto at = unread; at != chunk.end(); ++at) out->unread.push_back({*at, pushed});
  });
}

void ReadItems(Connection& connection, const std::vector<PostsOf>& posts, const TimeSpan& span,
               uint32_t limit, ItemsRead* out) {
  for (const bool pushed : {true, false}) ReadHalf(connection, posts, pushed, span, limit, out);
}

}  // namespace

MysqlReaderTruth::MysqlReaderTruth(const Config& config, const ShardMap& map,
                                   ShardConnections::Away away)
    : connections_(config, {}, std::move(away)), map_(map) {}

Status MysqlReaderTruth::Followees(UserId reader, std::vector<UserId>* out) {
  const size_t before = out->size();
  return connections_.ReadUnconfirmed(map_.ShardOf(reader), [&](Connection& connection) {
    out->resize(before);
    connection.Query(FolloweesSql(reader),
                     [&](const Row& row) { out->push_back(UserId{row.UInt64(1)}); });
  });
}

Status MysqlReaderTruth::LastAt(const std::vector<UserId>& authors,
                                std::vector<AuthorLastAt>* out) {
  const ChunkedRead<AuthorLastAt> read = {
      kIdsLimit, LastAtSql, [](const Row& row) {
        return AuthorLastAt{UserId{row.UInt64(1)}, row.Int64(2), row.Bool(3), row.Bool(4)};
      }};
  return ReadByShard(connections_, map_, authors, read, out);
}

// Reads one statement after another while there is room. The rest of `limit` bounds the next.
Status MysqlReaderTruth::Items(const std::vector<PostsOf>& posts, const TimeSpan& span,
                               uint32_t limit, ItemsRead* out) {
  *out = {};
  std::vector<std::vector<PostsOf>> by_shard(map_.shards());
  for (const PostsOf& one : posts) by_shard[map_.ShardOf(one.author)].push_back(one);
  for (Shard shard = 0; shard < by_shard.size(); ++shard) {
    if (by_shard[shard].empty()) continue;
    ItemsRead read;
    Status status = connections_.ReadUnconfirmed(shard, [&](Connection& connection) {
      read = {};  // Run may call this twice
      const auto room = static_cast<uint32_t>(limit - std::min<size_t>(limit, out->items.size()));
      ReadItems(connection, by_shard[shard], span, room, &read);
    });
    if (!status.done()) return status;
    out->items.insert(out->items.end(), read.items.begin(), read.items.end());
    out->unread.insert(out->unread.end(), read.unread.begin(), read.unread.end());
    if (read.partial) out->partial = read.partial;
  }
  return Status::Done();
}

Status MysqlReaderTruth::Confirm() { return connections_.Confirm(); }

Status MysqlReaderTruth::Outbox(UserId author, const TimeSpan& span, uint32_t limit,
                                std::vector<Item>* out) {
  Status status = connections_.ReadTruth(map_.ShardOf(author), [&](Connection& connection) {
    out->clear();
    connection.Query(OutboxSql(author, span, limit), [&](const Row& row) {
      out->push_back({PostId{row.UInt64(2)}, row.Int64(3)});
    });
  });
  std::sort(out->begin(), out->end(), IsNewer);
  if (out->size() > limit) out->resize(limit);
  return status;
}

Status MysqlReaderTruth::LookUp(UserId user, UserFacts* out) {
  return connections_.ReadTruth(map_.ShardOf(user), [&](Connection& connection) {
    *out = {};
    connection.Query(FollowsSomebodySql(user), [&](const Row&) { *out = {true, true}; });
    // The other question searches three tables, and nearly every user follows somebody.
    if (out->follows) return;
    connection.Query(IsKnownSql(user), [&](const Row& row) { out->known = row.Bool(1); });
  });
}

}  // namespace fanline::mysql
