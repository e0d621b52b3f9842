// The SQL of the hot paths as text. The shapes are the ones that were measured, and a test EXPLAINs
// them. Lists must have 1 to kListLimit elements: from 1,000 values on, counted within tuples too,
// MariaDB turns an IN list into a join with a temporary table and scans.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/model/ids.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::mysql {

inline constexpr size_t kListLimit = 300;     // elements of one IN list: up to 900 values
inline constexpr size_t kIdsLimit = 900;      // ids of one IN list in a statement without others
inline constexpr size_t kUnionLimit = 32;     // selects of one UNION ALL
inline constexpr size_t kAuthorsLimit = 128;  // (author, buckets) of one statement over followers

using PostKey = std::pair<UserId, PostId>;  // author, post

// The keys (dst, bucket, src) of reverse rows, as a list in parentheses.
void AppendReverseKeys(std::string& sql, std::span<const EdgeKey> edges);

// author_id, post_id, then the columns of PostState in the order of its members.
std::string PostRowsSql(std::span<const PostKey> posts);
// The same for one author's posts from `from` on, in the order of their ids.
std::string PostRowsFromSql(const PostKey& from, size_t limit);

// Followers in these buckets of these authors; never empty.
struct FollowersIn {
  Bucket first = 0;
  Bucket last = 0;
  std::vector<UserId> authors;
};
// dst, bucket, src of live edges in primary key order: one page of many authors. No two of `parts`
// share a bucket of an author.
std::string FollowersOfManySql(std::span<const FollowersIn> parts, uint32_t limit);
// dst, bucket of live edges, at most `limit`, in no order. Reads the index alone.
std::string FollowerBucketsSql(std::span<const UserId> authors, uint32_t limit);
// src of live edges: the rest of one bucket. One statement per bucket, because the comparison
// (bucket, src) > (?, ?) is three times slower.
std::string FollowersInBucketSql(UserId author, Bucket bucket, UserId after, uint32_t limit);
// src of live edges: whole buckets, in (bucket, src) order.
std::string FollowersInBucketsSql(UserId author, Bucket first, Bucket last, uint32_t limit);

// dst, src of the live ones among `edges`
std::string LiveEdgesSql(std::span<const EdgeKey> edges);

// author_id, post_id, created_at_ms of each author's newest visible pushed items, at most `limit`
// per author, each author's in order.
std::string OutboxesSql(std::span<const UserId> authors, uint32_t limit);
// The same for one author's items in the span (up_to is ignored): at most `limit` pushed ones in
// order, then at most `limit` others in order.
std::string OutboxSql(UserId author, const TimeSpan& span, uint32_t limit);

// Has a row if the user follows anybody.
std::string FollowsSomebodySql(UserId user);
// Whether any row is about the user.
std::string IsKnownSql(UserId user);

// author_id, post_id, created_at_ms of visible items in the span, either pushed or not, at most
// `limit`, in the index's order: author by author, each author's newest first.
std::string ItemsSql(std::span<const UserId> authors, bool pushed, const TimeSpan& span,
                     uint32_t limit);

// dst
std::string FolloweesSql(UserId reader);
// author_id, last_at, whether the author is marked, whether announced
std::string LastAtSql(std::span<const UserId> authors);
// user_id, fans_cnt
std::string FansCountSql(std::span<const UserId> authors);
// user_id of those of `authors` whose counter of followers is below zero
std::string BelowZeroSql(std::span<const UserId> authors);

// id, kind, src, dst, ver, state, pos, written at (Unix ms) of pending rows of log1 above `after`
std::string PendingChangesSql(uint64_t after, uint32_t limit);
// The same of those of `ids` that are pending.
std::string PendingOfSql(std::span<const uint64_t> ids);
// id, whether older than `keep`, of the oldest done rows of log1
std::string OldestDoneSql(std::chrono::seconds keep, uint32_t limit);

// author_id, pull, ms since the author was announced or null, marked, by_hand, version, ms since
// `pull` changed, live, lag_ms, ms since they were weighed; for those of `authors` that have a row
std::string ModesSql(std::span<const UserId> authors);

std::string AnnounceAuthorSql(UserId author);
// Changes the row only if the author's mode still has `version`.
std::string SwitchAuthorSql(UserId author, bool pull, uint64_t version);
// by_hand, number of authors
std::string CountPulledSql();
std::string WeighAuthorSql(UserId author, uint64_t live, std::chrono::milliseconds lag);

// author_id, post_id of the posts that are merged at read
std::string NotPushedSql(std::span<const PostKey> posts);

}  // namespace fanline::mysql
