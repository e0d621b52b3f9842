// Serves pages of posts. A home timeline is read from Redis. What the live timeline does not hold
// is pulled from the shards, and a timeline that is not live is made live behind the answer. A page
// does not fail when Redis is away or busy. The shards tell why an empty timeline is empty.
//
// Posts of authors who are merged at read come from a small cache (merged_posts.h). A page of a
// live timeline leaves out those whose shards are known to be away, and says so. A page with bodies
// is joined with the application's table (timeline/hydration.h). When its database is away, slow or
// busy, the page is served without bodies, and says so.
//
// Thread-safe. A page that Redis answers alone is served on the caller's thread when a connection
// is free; pulls are left to the threads of their pool.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include "api/empty_reasons.h"
#include "api/merged_posts.h"
#include "api/metrics.h"
#include "api/operations/call.h"
#include "api/rebuilds.h"
#include "api/store_pool.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"

namespace fanline::api {

class Pages {
 public:
  // The pages' stores. `bodies` may be null: requests for bodies are then refused.
  struct Pools {
    TimelinePool& timelines;
    TruthPool& truth;
    BodiesPool* bodies = nullptr;
  };

  struct Rules {
    bool own_posts = false;  // home timelines hold the reader's own
    // How late a post may arrive and still be shown to clients that ask for new posts.
    // newest_cursor stays behind by this and by how long merged posts are cached. A live page whose
    // range lags by more than this, and by more than kLate, is incomplete.
    Duration overlap = std::chrono::seconds(10);
  };
  // A pusher that keeps up reports its progress every five seconds.
  static constexpr std::chrono::seconds kLate{10};

  // All outlive it, and the pools also outlive the pages they were given. `away`: whether a shard
  // is known to be away. `clock` and `away` are called on any thread.
  Pages(Pools pools, Rebuilds& rebuilds, const ShardMap& map, Metrics& metrics,
        std::function<Now()> clock, Rules rules, std::function<bool(Shard)> away)
      : pools_(pools),
        rebuilds_(rebuilds),
        map_(map),
        metrics_(metrics),
        clock_(std::move(clock)),
        rules_(rules),
        away_([&map, away = std::move(away)](UserId user) { return away(map.ShardOf(user)); }),
        merged_(away_) {}

  // Called once, on any thread.
  using Answer = std::function<void(Response)>;
  // `route` is of a static table.
  void Serve(std::shared_ptr<const PageCall> call, std::string_view route, Answer answer);

  // Adds to the bytes of answers that clients have not read yet. Above kMostKeptBytes, pages come
  // without bodies, as when their database is away. Any thread.
  void Kept(int64_t bytes) { kept_ += bytes; }

 private:
  struct Serving;
  using Shared = std::shared_ptr<Serving>;

  // Read a page, or refill one.
  void Read(const Shared& page, const timeline::PageQuery& query);
  void BeginHome(const Shared& page);
  void ReadHome(const Shared& page);
  void TakeHome(const Shared& page);
  void PullOrAwait(const Shared& page);
  void Pull(const Shared& page);
  Touched TouchedBy(const Serving& page) const;
  void PullBy(const Shared& page, ReaderTruth* truth, Slots::Refusal refusal);
  Status PullNext(Serving& page, ReaderTruth& truth);
  void ReadPosts(const Shared& page);
  void LookUpReason(const Shared& page);
  void FindReason(Serving& page, ReaderTruth& truth);
  void TakeProgress(Serving& page) const;
  void GotHome(const Shared& page);
  void Got(const Shared& page);
  void GoOn(const Shared& page);
  void Send(const Shared& page);
  void ReadBodies(const Shared& page, std::vector<PostId> posts);
  void Refuse(const Shared& page, Slots::Refusal refusal);
  void Fail(const Shared& page, const Status& status);

  const Pools pools_;
  Rebuilds& rebuilds_;
  const ShardMap& map_;
  Metrics& metrics_;
  const std::function<Now()> clock_;
  const Rules rules_;
  const timeline::PageRead::Away away_;  // the user's shard
  EmptyReasons reasons_;
  MergedPosts merged_;
  std::atomic<int64_t> kept_ = 0;
};

}  // namespace fanline::api
