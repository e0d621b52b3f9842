#include "backends/mysql/posts/reader_truth.h"

#include <algorithm>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/statements.h"

namespace fanline::mysql {
namespace {

// Reads either the pushed ones of `posts` or the others, in ascending order as in the index.
void ReadHalf(Connection& connection, bool pushed, const ReadItems& asked, ItemsRead* out) {
  std::vector<UserId> authors;
  for (const PostsOf& one : asked.posts) {
    if (one.pushed == pushed) authors.push_back(one.author);
  }
  std::sort(authors.begin(), authors.end());
  ForEachChunk(authors, kIdsLimit, [&](std::span<const UserId> chunk) {
    const auto room = static_cast<uint32_t>(asked.limit - out->items.size());
    uint32_t found = 0;
    UserId last{};
    if (room > 0) {
      connection.Query(ItemsSql(chunk, pushed, asked.span, room), [&](const Row& row) {
        const UserId author{row.UInt64(1)};
        out->of_partial = author == last ? out->of_partial + 1 : 1;
        last = author;
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

template <class Reply>
Reply Read(const Connection& connection) {
  Reply reply;
  reply.shard = connection.shard();
  if constexpr (requires { reply.server; }) reply.server = connection.server();
  return reply;
}

}  // namespace

FolloweesRead ReaderService::Do(Connection& connection, const ReadFollowees& request) const {
  auto reply = Read<FolloweesRead>(connection);
  connection.Query(FolloweesSql(request.reader),
                   [&](const Row& row) { reply.authors.push_back(UserId{row.UInt64(1)}); });
  return reply;
}

LastAtRead ReaderService::Do(Connection& connection, const ReadLastAt& request) const {
  auto reply = Read<LastAtRead>(connection);
  ForEachChunk(request.of, kIdsLimit, [&](std::span<const UserId> chunk) {
    connection.Query(LastAtSql(chunk), [&](const Row& row) {
      reply.authors.push_back({UserId{row.UInt64(1)}, row.Int64(2), row.Bool(3), row.Bool(4)});
    });
  });
  return reply;
}

// One statement after another while there is room. The rest of `limit` bounds the next.
ItemsAnswered ReaderService::Do(Connection& connection, const ReadItems& request) const {
  auto reply = Read<ItemsAnswered>(connection);
  for (const bool pushed : {true, false}) ReadHalf(connection, pushed, request, &reply.read);
  if (request.proved) connection.RequirePrimary();
  return reply;
}

ReadsConfirmed ReaderService::Do(Connection& connection, const ConfirmReads& request) const {
  auto reply = Read<ReadsConfirmed>(connection);
  connection.RequirePrimary();
  if (connection.server() != request.server) {
    reply.status = Status::Later(ResourceOf(connection.shard()),
                                 "another server answers than the one that was read");
  }
  return reply;
}

OutboxRead ReaderService::Do(Connection& connection, const ReadOutbox& request) const {
  auto reply = Read<OutboxRead>(connection);
  connection.Query(OutboxSql(request.author, request.span, request.limit), [&](const Row& row) {
    reply.items.push_back({PostId{row.UInt64(2)}, row.Int64(3)});
  });
  connection.RequirePrimary();
  std::sort(reply.items.begin(), reply.items.end(), IsNewer);
  if (reply.items.size() > request.limit) reply.items.resize(request.limit);
  return reply;
}

UserLookedUp ReaderService::Do(Connection& connection, const LookUpUser& request) const {
  auto reply = Read<UserLookedUp>(connection);
  UserFacts& facts = reply.facts;
  connection.Query(FollowsSomebodySql(request.user), [&](const Row&) { facts = {true, true}; });
  // The other question searches three tables, and nearly every user follows somebody.
  if (!facts.follows) {
    connection.Query(IsKnownSql(request.user), [&](const Row& row) { facts.known = row.Bool(1); });
  }
  connection.RequirePrimary();
  return reply;
}

}  // namespace fanline::mysql
