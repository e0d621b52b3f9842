#include "backends/mysql/truth.h"

#include <utility>
#include <vector>

#include "backends/mysql/follower_pages.h"
#include "backends/mysql/post_rows.h"
#include "backends/mysql/shard_pool.h"
#include "backends/mysql/sync_truth.h"

namespace fanline::mysql {
namespace {

std::vector<PostPage> ReadPostPages(Connection& connection, const RangeLayout& layout,
                                    const std::vector<ReadPostPage>& requests) {
  std::vector<PostKey> keys;
  std::vector<PageQuery> queries;
  for (const ReadPostPage& request : requests) {
    for (const PostId post : request.posts) keys.push_back({request.author, post});
    queries.push_back({request.author, request.range, request.after, request.limit});
  }
  const auto rows = ReadPostRows(connection, std::move(keys));
  auto pages = ReadFollowerPages(connection, layout, queries);

  std::vector<PostPage> replies;
  for (size_t i = 0; i < requests.size(); ++i) {
    PostPage reply;
    reply.id = requests[i].id;
    for (const PostId post : requests[i].posts) {
      const auto row = rows.find({requests[i].author, post});
      reply.posts.push_back(row == rows.end() ? PostState{} : row->second);
    }
    reply.followers = std::move(pages[i].followers);
    reply.next = pages[i].next;
    replies.push_back(std::move(reply));
  }
  return replies;
}

// Both kinds of a batch, each merged among themselves; answers in the batch's order.
std::vector<TruthReply> Serve(Connection& connection, const RangeLayout& layout,
                              const std::vector<TruthRequest>& batch) {
  std::vector<ReadPostPage> pages;
  std::vector<ReadSync> syncs;
  for (const TruthRequest& request : batch) {
    if (const auto* page = std::get_if<ReadPostPage>(&request)) {
      pages.push_back(*page);
    } else {
      syncs.push_back(std::get<ReadSync>(request));
    }
  }
  auto page_replies = ReadPostPages(connection, layout, pages);
  auto sync_replies = ReadSyncTruths(connection, syncs);
  std::vector<TruthReply> replies;
  size_t page = 0, sync = 0;
  for (const TruthRequest& request : batch) {
    if (std::holds_alternative<ReadPostPage>(request)) {
      replies.emplace_back(std::move(page_replies[page++]));
    } else {
      replies.emplace_back(std::move(sync_replies[sync++]));
    }
  }
  return replies;
}

TruthReply Failed(const TruthRequest& request, Status status) {
  if (const auto* page = std::get_if<ReadPostPage>(&request)) {
    PostPage reply;
    reply.id = page->id;
    reply.status = std::move(status);
    return reply;
  }
  SyncTruth reply;
  reply.id = std::get<ReadSync>(request).id;
  reply.status = std::move(status);
  return reply;
}

}  // namespace

class MysqlTruth::Impl {
 public:
  using Pool = ShardPool<TruthRequest, TruthReply>;

  Impl(const Config& config, const ShardMap& map, const RangeLayout& layout,
       std::function<void(TruthReply)> reply, HealthSink health, LogSink log,
       const TruthLimits& limits)
      : map_(map),
        layout_(layout),
        pool_(config, "truth",
              {limits.threads_per_shard, limits.requests_per_batch, limits.queued_per_shard},
              {.serve =
                   [this](Connection& connection, const std::vector<TruthRequest>& batch) {
                     return Serve(connection, layout_, batch);
                   },
               .fail = Failed,
               .reply = std::move(reply),
               .health = std::move(health),
               .log = std::move(log)}) {}

  void Submit(TruthRequest request) {
    const UserId author = std::visit([](const auto& each) { return each.author; }, request);
    pool_.Submit(map_.ShardOf(author), std::move(request));
  }

 private:
  const ShardMap map_;
  const RangeLayout layout_;
  Pool pool_;  // last: its threads use the others
};

MysqlTruth::MysqlTruth(const Config& config, const ShardMap& map, const RangeLayout& layout,
                       std::function<void(TruthReply)> reply, HealthSink health, LogSink log,
                       TruthLimits limits)
    : impl_(std::make_unique<Impl>(config, map, layout, std::move(reply), std::move(health),
                                   std::move(log), limits)) {}

MysqlTruth::~MysqlTruth() = default;

void MysqlTruth::Submit(TruthRequest request) { impl_->Submit(std::move(request)); }

}  // namespace fanline::mysql
