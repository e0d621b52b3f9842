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

// Of edges that bring posts, whether they bring reposts.
using Edges = std::map<EdgeKey, bool>;

Edges ReadLiveEdges(Connection& connection, const std::vector<ReadSync>& requests) {
  std::vector<EdgeKey> keys;
  for (const ReadSync& request : requests)
    keys.push_back({.src = request.reader, .dst = request.author});
  SortUnique(keys);
  Edges live;
  QueryChunks(connection, keys, kListLimit, ReverseRowsSql, [&](const Row& row) {
    const Edge edge = EdgeFrom(row, 1);
    if (edge.state().brings()) live[edge.key()] = edge.delivery != Delivery::kNoReposts;
  });
  return live;
}

using Outbox = std::vector<Item>;  // newest first

// Many readers may begin to follow one author at once. Each author is read once, as far as the
// widest window needs, and one item further; once more for readers who want no reposts.
std::map<UserId, Outbox> ReadOutboxes(Connection& connection, const std::vector<ReadSync>& requests,
                                      const Edges& live, bool reposts) {
  uint32_t window = 0;
  std::vector<UserId> authors;
  for (const ReadSync& request : requests) {
    if (request.window == 0) continue;
    const auto edge = live.find({.src = request.reader, .dst = request.author});
    if (edge == live.end() || edge->second != reposts) continue;
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
          AppendSql(sql, sql.empty() ? "" : " UNION ALL ",
                    OutboxSql(author, true, reposts, {}, window + 1));
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
  const auto outboxes = ReadOutboxes(connection, requests, live, true);
  const auto without_reposts = ReadOutboxes(connection, requests, live, false);
  const auto marked = ReadMarked(connection, requests);
  std::vector<SyncTruth> truths;
  for (const ReadSync& request : requests) {
    SyncTruth truth;
    const auto edge = live.find({.src = request.reader, .dst = request.author});
    truth.following = edge != live.end();
    truth.no_reposts = truth.following && !edge->second;
    if (request.window == 0) {
      truths.push_back(std::move(truth));
      continue;
    }
    truth.marked = truth.following && marked.contains(request.author);
    const auto& read = truth.no_reposts ? without_reposts : outboxes;
    const auto outbox = read.find(request.author);
    if (truth.following && outbox != read.end()) {
      FillVisible(outbox->second, request.window, truth);
    }
    truths.push_back(std::move(truth));
  }
  return truths;
}

}  // namespace fanline::mysql
