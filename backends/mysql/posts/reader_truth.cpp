#include "backends/mysql/posts/reader_truth.h"

#include <algorithm>

#include "backends/mysql/edges/mutes.h"
#include "backends/mysql/posts/post_rows.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/model/delivery.h"
#include "fanline/model/item.h"

namespace fanline::mysql {
namespace {

// The columns of ItemOf of visible items in the span, either pushed or not, with reposts or
// without, at most `limit`, in the index's order: author by author, each author's newest first.
std::string ItemsSql(std::span<const UserId> authors, bool pushed, bool reposts,
                     const TimeSpan& span, uint32_t limit) {
  std::string sql =
      Sql("SELECT author_id, post_id, created_at_ms, original_id, original_author"
          " FROM author_post FORCE INDEX (outbox)"
          " WHERE pushed = ",
          pushed, " AND deleted = 0 AND hidden = 0 AND author_id IN ", InList(authors));
  // An unpublished post has created_at_ms NULL; it sorts last and is not an item.
  AppendSql(sql, " AND created_at_ms > ", span.above.value_or(0));
  if (!reposts) sql += " AND original_id IS NULL";
  auto latest = span.up_to;
  if (span.behind) latest = std::min(latest.value_or(kMaxCreatedAt), span.behind->created_at);
  if (latest) AppendSql(sql, " AND created_at_ms <= ", *latest);
  if (span.behind && *latest == span.behind->created_at) {
    AppendSql(sql, " AND NOT (created_at_ms = ", *latest, " AND post_id >= ", span.behind->post,
              ")");
  }
  AppendSql(sql, " ORDER BY author_id, created_at_ms DESC, post_id DESC LIMIT ", limit);
  return sql;
}

// Reads of `posts` either the pushed ones or the others, either with reposts or without, in
// ascending order as in the index.
void ReadPart(Connection& connection, bool pushed, bool reposts, const ReadItems& asked,
              ItemsRead* out) {
  std::vector<UserId> authors;
  for (const PostsOf& one : asked.posts) {
    if (one.pushed == pushed && one.reposts == reposts) authors.push_back(one.author);
  }
  std::sort(authors.begin(), authors.end());
  ForEachChunk(authors, kIdsLimit, [&](std::span<const UserId> chunk) {
    const auto room = static_cast<uint32_t>(asked.limit - out->items.size());
    uint32_t found = 0;
    UserId last{};
    if (room > 0) {
      connection.Query(ItemsSql(chunk, pushed, reposts, asked.span, room), [&](const Row& row) {
        const UserId author{row.UInt64(1)};
        out->of_partial = author == last ? out->of_partial + 1 : 1;
        last = author;
        out->items.push_back(ItemOf(row));
        ++found;
      });
    }
    if (found < room) return;
    // The limit is reached. Authors behind the last one found were not read.
    if (room > 0) out->partial = PostsOf{last, pushed, reposts};
    const auto unread =
        room > 0 ? std::upper_bound(chunk.begin(), chunk.end(), last) : chunk.begin();
    for (auto at = unread; at != chunk.end(); ++at) out->unread.push_back({*at, pushed, reposts});
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
  // One statement: mutes cost none of their own.
  connection.Query(
      Sql("SELECT dst, delivery, '' FROM following WHERE state = 1 AND delivery <> 2 AND src = ",
          request.reader, " UNION ALL SELECT version, 0, authors FROM mute WHERE reader_id = ",
          request.reader, " AND authors <> ''"),
      [&](const Row& row) {
        if (const auto packed = row.Text(3); !packed.empty()) {
          reply.mutes = UnpackMutes(row.UInt64(1), packed);
          return;
        }
        const UserId author{row.UInt64(1)};
        reply.authors.push_back(author);
        const auto delivery = StoredDelivery(row.Int64(2));
        if (delivery == Delivery::kNoReposts) reply.no_reposts.push_back(author);
      });
  std::sort(reply.no_reposts.begin(), reply.no_reposts.end());
  return reply;
}

MutesRead ReaderService::Do(Connection& connection, const ReadMutes& request) const {
  auto reply = Read<MutesRead>(connection);
  reply.mutes = ReadMutesRow(connection, request.reader);
  connection.RequirePrimary();
  return reply;
}

OriginalsRead ReaderService::Do(Connection& connection, const ReadOriginals& request) const {
  auto reply = Read<OriginalsRead>(connection);
  std::vector<PostKey> keys;
  for (const Original& original : request.originals) keys.push_back(original.key());
  const auto rows = ReadPostRows(connection, keys);
  connection.RequirePrimary();
  for (const PostKey& key : keys) {
    const auto found = rows.find(key);
    reply.states.emplace_back(found == rows.end() ? PostState() : found->second);
  }
  return reply;
}

LastAtRead ReaderService::Do(Connection& connection, const ReadLastAt& request) const {
  auto reply = Read<LastAtRead>(connection);
  QueryChunks(
      connection, request.of, kIdsLimit,
      [](std::span<const UserId> chunk) {
        return Sql(
            "SELECT author_id, last_at, COALESCE(marked, 0), COALESCE(announced, 0)"
            " FROM author FORCE INDEX (PRIMARY) LEFT JOIN author_mode USING (author_id)"
            " WHERE author_id IN ",
            InList(chunk));
      },
      [&](const Row& row) {
        reply.authors.push_back({UserId{row.UInt64(1)}, row.Int64(2), row.Bool(3), row.Bool(4)});
      });
  return reply;
}

// One statement after another while there is room. The rest of `limit` bounds the next.
ItemsAnswered ReaderService::Do(Connection& connection, const ReadItems& request) const {
  auto reply = Read<ItemsAnswered>(connection);
  for (const bool pushed : {true, false}) {
    for (const bool reposts : {true, false}) {
      ReadPart(connection, pushed, reposts, request, &reply.read);
    }
  }
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
  const auto half = [&](bool pushed) {
    return OutboxSql(request.author, pushed, true, request.span, request.limit);
  };
  reply.items = connection.All(Sql(half(true), " UNION ALL ", half(false)), ItemOf);
  connection.RequirePrimary();
  std::sort(reply.items.begin(), reply.items.end(), IsNewer);
  if (reply.items.size() > request.limit) reply.items.resize(request.limit);
  return reply;
}

UserLookedUp ReaderService::Do(Connection& connection, const LookUpUser& request) const {
  auto reply = Read<UserLookedUp>(connection);
  const UserId user = request.user;
  UserFacts& facts = reply.facts;
  connection.Query(Sql("SELECT 1 FROM following FORCE INDEX (newest) WHERE state = 1 AND src = ",
                       user, " LIMIT 1"),
                   [&](const Row&) {
                     facts = {true, true};
                   });
  // The other question searches three tables, and nearly every user follows somebody.
  if (!facts.follows) {
    facts.known =
        0 < connection.Number(Sql(
                "SELECT EXISTS (SELECT 1 FROM following FORCE INDEX (PRIMARY) WHERE src = ", user,
                ") OR EXISTS (SELECT 1 FROM follower FORCE INDEX (PRIMARY) WHERE dst = ", user,
                ") OR EXISTS (SELECT 1 FROM author WHERE author_id = ", user, ")"));
  }
  connection.RequirePrimary();
  return reply;
}

}  // namespace fanline::mysql
