#include "backends/mysql/posts/post_store.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backends/mysql/posts/author_modes.h"
#include "backends/mysql/posts/post_merge.h"
#include "backends/mysql/posts/post_rows.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/model/item.h"

namespace fanline::mysql {
namespace {

bool Storable(const FeedEvent& event) {
  const bool ids = IsValidId(Raw(event.author)) && IsValidId(Raw(event.post));
  if (event.kind != EventKind::kPublished) return ids;
  return ids && event.created_at > 0 && event.created_at <= kMaxCreatedAt;
}

std::vector<UserId> AuthorsOf(const std::vector<FeedEvent>& events) {
  std::vector<UserId> authors;
  for (const FeedEvent& event : events) authors.push_back(event.author);
  SortUnique(authors);
  return authors;
}

std::set<UserId> Pulled(const std::map<UserId, AuthorMode>& modes) {
  std::set<UserId> pulled;
  for (const auto& [author, mode] : modes) {
    if (mode.pull) pulled.insert(author);
  }
  return pulled;
}

void Write(Connection& connection, const std::vector<FeedEvent>& events,
           const std::set<UserId>& pulled) {
  const std::vector<PostChange> changes = FoldEvents(events, pulled);
  ForEachChunk(changes, kListLimit, [&](std::span<const PostChange> chunk) {
    connection.Execute(MergePostsSql(chunk));
  });
  ForEachChunk(RepostsAmong(changes), kListLimit,
               [&](std::span<const RepostKey> chunk) { connection.Execute(AddRepostsSql(chunk)); });
  ForEachChunk(NewestPublished(events), kListLimit, [&](std::span<const AuthorTime> chunk) {
    connection.Execute(GrowLastAtSql(chunk));
  });
}

std::set<PostKey> ReadNotPushed(Connection& connection, const std::vector<FeedEvent>& events) {
  std::vector<PostKey> keys;
  for (const FeedEvent& event : events) keys.push_back({event.author, event.post});
  SortUnique(keys);
  std::set<PostKey> merged_at_read;
  QueryChunks(
      connection, keys, kListLimit,
      [](std::span<const PostKey> chunk) {
        return Sql(
            "SELECT author_id, post_id FROM author_post FORCE INDEX (PRIMARY)"
            " WHERE pushed = 0 AND (author_id, post_id) IN ",
            PostKeyList(chunk));
      },
      [&](const Row& row) {
        merged_at_read.insert({UserId{row.UInt64(1)}, PostId{row.UInt64(2)}});
      });
  return merged_at_read;
}

// Returns a counter for every author. One below zero has drifted and counts as no followers.
std::map<UserId, uint64_t> ReadFansCounts(Connection& connection,
                                          const std::vector<FeedEvent>& events) {
  const std::vector<UserId> authors = AuthorsOf(events);
  std::map<UserId, uint64_t> counts;
  for (const UserId author : authors) counts[author] = 0;
  QueryChunks(
      connection, authors, kListLimit,
      [](std::span<const UserId> chunk) {
        return Sql("SELECT user_id, fans_cnt FROM user_fan FORCE INDEX (PRIMARY) WHERE user_id IN ",
                   InList(chunk));
      },
      [&](const Row& row) {
        const int64_t count = row.Int64(2);
        counts[UserId{row.UInt64(1)}] = count < 0 ? 0 : static_cast<uint64_t>(count);
      });
  return counts;
}

// Each bucket once, ascending. An author who is missing here may have followers in any bucket.
using BucketsOf = std::map<UserId, std::vector<Bucket>>;

constexpr uint64_t kRowsPerRead = 10'000;  // by the counters

struct Readers {
  std::vector<UserId> authors;
  uint64_t promised = 0;  // rows, by the counters

  bool TakesNoMore(uint64_t count) const {
    return authors.size() == kAuthorsLimit || (!authors.empty() && promised + count > kRowsPerRead);
  }
};

// `limit` is one row more than expected. If it is reached, rows may be missing and nothing is
// returned.
void ReadSome(Connection& connection, const std::vector<UserId>& authors, uint64_t limit,
              BucketsOf& found) {
  BucketsOf read;
  for (const UserId author : authors) read[author];
  uint64_t rows = 0;
  const std::string sql = Sql(  // reads the index alone
      "SELECT dst, bucket FROM follower FORCE INDEX (newest) WHERE state = 1 AND dst IN ",
      InList(authors), " LIMIT ", limit);
  connection.Query(sql, [&](const Row& row) {
    ++rows;
    read[UserId{row.UInt64(1)}].push_back(static_cast<Bucket>(row.UInt64(2)));
  });
  if (rows >= limit) return;
  for (auto& [author, buckets] : read) SortUnique(buckets);
  found.merge(read);
}

// The buckets of the live followers of those of `counters` whose counter is at most `most`, read
// after the authors' posts were committed. A dispatcher leaves out the ranges that hold none of
// them.
//
// Nobody is missed: a user who follows after this read commits the row after the post's row. The
// hint `sync` of that follow is appended even later and finds the post. This needs a read on the
// connection that committed the post, after the commit is acknowledged, and in autocommit. An older
// snapshot or another server might lack a follower whose `sync` has not found the post.
//
// The counters only select the authors to read, for they may be wrong. One statement reads up to
// kAuthorsLimit authors, and somewhat more rows than their counters add up to. If a statement
// reaches this row limit, its authors are not in the result. If a read fails, *status says so, and
// the result has the authors read before: the posts are committed whether or not this succeeds.
BucketsOf ReadFollowerBuckets(Connection& connection, const std::map<UserId, uint64_t>& counters,
                              uint32_t most, Status* status) {
  BucketsOf found;
  Readers next;
  const auto read = [&] {
    const Readers now = std::exchange(next, {});
    if (now.authors.empty()) return;
    ReadSome(connection, now.authors, now.promised + most + 1, found);
  };
  try {
    for (const auto& [author, count] : counters) {
      if (count > most) continue;
      if (next.TakesNoMore(count)) read();
      next.authors.push_back(author);
      next.promised += count;
    }
    read();
  } catch (const MysqlError& error) {
    *status = StatusOf(error, connection.shard());
  }
  return found;
}

}  // namespace

EventsApplied PostService::Do(Connection& connection, const ApplyEvents& request) {
  EventsApplied reply;
  for (const FeedEvent& event : request.events) {
    if (Storable(event)) continue;
    reply.status = Status::Never("an event names an id or a created_at that cannot be stored");
    return reply;
  }
  // Before the transaction, whose first read must come after its writes. Otherwise that read might
  // fix a snapshot that lacks rows which others made meanwhile. A mode that changes in between
  // takes effect for the next posts.
  const auto modes = ReadAuthorModes(connection, AuthorsOf(request.events));
  std::set<PostKey> merged_at_read;
  connection.Transact([&] {
    Write(connection, request.events, Pulled(modes));
    merged_at_read = ReadNotPushed(connection, request.events);
    return true;
  });
  // Committed. From here on a failed read of followers must not fail the request.
  const auto counts = ReadFansCounts(connection, request.events);
  BucketsOf followers;
  if (request.most_followers > 0) {
    followers = ReadFollowerBuckets(connection, counts, request.most_followers, &reply.followers);
  }
  for (const FeedEvent& event : request.events) {
    EventsApplied::Applied& applied = reply.applied.emplace_back();
    applied.pushed = !merged_at_read.contains({event.author, event.post});
    const auto mode = modes.find(event.author);
    if (mode != modes.end()) applied.mode = mode->second;
    applied.followers = counts.at(event.author);
    const auto found = followers.find(event.author);
    if (found != followers.end()) applied.buckets = found->second;
  }
  return reply;
}

ShownRead PostService::Do(Connection& connection, const ReadShown& request) {
  ShownRead reply{.shard = request.shard, .status = {}};
  for (const auto& [key, state] : ReadPostRows(connection, request.posts)) {
    if (state.original) reply.shown[key] = state.original;
  }
  return reply;
}

// MariaDB assigns from left to right. A column has its stored value until its own assignment. The
// row changes only if the author's mode still has that version.
AuthorSwitched PostService::Do(Connection& connection, const SwitchAuthor& request) {
  AuthorSwitched reply;
  reply.switched =
      connection.Execute(
          Sql("UPDATE author_mode SET ", request.pull ? "pull = 1, marked = 1" : "pull = 0",
              ", since = ", kNowMs, ", version = version + 1 WHERE author_id = ", request.author,
              " AND version = ", request.version)) > 0;
  return reply;
}

AuthorAnnounced PostService::Do(Connection& connection, const AnnounceAuthor& request) {
  connection.Execute(
      Sql("UPDATE author_mode SET announced = ", kNowMs, " WHERE author_id = ", request.author));
  return {};
}

}  // namespace fanline::mysql
