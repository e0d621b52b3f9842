// The truth for syncs: serves many ReadSync at once.

#include <algorithm>
#include <map>
#include <set>

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/posts/author_modes.h"
#include "backends/mysql/posts/post_rows.h"
#include "backends/mysql/posts/truth.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

std::set<EdgeKey> ReadLiveEdges(Connection& connection, const std::vector<ReadSync>& requests) {
  std::vector<EdgeKey> keys;
  for (const ReadSync& request : requests)
    keys.push_back({.src = request.reader, .dst = request.author});
  SortUnique(keys);
  std::set<EdgeKey> live;
  QueryChunks(connection, keys, kListLimit, ReverseRowsSql, [&](const Row& row) {
    if (row.Bool(4)) live.insert({.src = UserId{row.UInt64(1)}, .dst = UserId{row.UInt64(2)}});
  });
  return live;
}

using Outbox = std::vector<Item>;  // newest first

// Many readers may begin to follow one author at once. Each author is read once, as far as the
// widest window needs, and one item further.
std::map<UserId, Outbox> ReadOutboxes(Connection& connection, const std::vector<ReadSync>& requests,
                                      const std::set<EdgeKey>& live) {
  uint32_t window = 0;
  std::vector<UserId> authors;
  for (const ReadSync& request : requests) {
    if (request.window == 0) continue;
    if (!live.contains({.src = request.reader, .dst = request.author})) continue;
    authors.push_back(request.author);
    window = std::max(window, request.window);
  }
  SortUnique(authors);
  std::map<UserId, Outbox> outboxes;
  constexpr size_t kUnionLimit = 32;  // selects of one UNION ALL
  QueryChunks(
      connection, authors, kUnionLimit,
      [&](std::span<const UserId> chunk) {
        std::string sql;
        for (const UserId author : chunk) {
          AppendSql(sql, sql.empty() ? "" : " UNION ALL ", OutboxSql(author, true, {}, window + 1));
        }
        return sql;
      },
      [&](const Row& row) { outboxes[UserId{row.UInt64(1)}].push_back(ItemOf(row)); });
  return outboxes;
}

std::set<UserId> ReadMarked(Connection& connection, const std::vector<ReadSync>& requests) {
  std::vector<UserId> authors;
  for (const ReadSync& request : requests) {
    if (request.window > 0) authors.push_back(request.author);
  }
  SortUnique(authors);
  std::set<UserId> marked;
  for (const auto& [author, mode] : ReadAuthorModes(connection, authors)) {
    if (mode.marked) marked.insert(author);
  }
  return marked;
}

void FillVisible(const Outbox& outbox, uint32_t window, SyncTruth& truth) {
  const size_t shown = std::min<size_t>(window, outbox.size());
  truth.visible.assign(outbox.begin(), outbox.begin() + static_cast<ptrdiff_t>(shown));
  if (outbox.size() > shown) truth.newest_unread = outbox[shown].created_at;
}

}  // namespace

std::vector<SyncTruth> TruthService::DoAll(Connection& connection,
                                           const std::vector<ReadSync>& requests) {
  const auto live = ReadLiveEdges(connection, requests);
  const auto outboxes = ReadOutboxes(connection, requests, live);
  const auto marked = ReadMarked(connection, requests);
  std::vector<SyncTruth> truths;
  for (const ReadSync& request : requests) {
    SyncTruth truth;
    truth.following = live.contains({.src = request.reader, .dst = request.author});
    if (request.window == 0) {
      truths.push_back(std::move(truth));
      continue;
    }
    truth.marked = truth.following && marked.contains(request.author);
    const auto outbox = outboxes.find(request.author);
    if (truth.following && outbox != outboxes.end()) {
      FillVisible(outbox->second, request.window, truth);
    }
    truths.push_back(std::move(truth));
  }
  return truths;
}

}  // namespace fanline::mysql
