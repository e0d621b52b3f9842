// Serves pages of posts. A home timeline is read from Redis. What the live timeline does not hold
// is pulled from the shards, and a timeline that is not live is made live behind the answer. A page
// does not fail when Redis is away or busy. The shards tell why an empty timeline is empty.
//
// Posts of authors who are merged at read come from a small cache (merged_posts.h). All shards that
// a page needs are asked at once, and no thread waits for a store, but that a page may ask Redis on
// the thread that brings the request. A shard that does not answer in time costs a page the posts
// of its authors, and the page says so: kMergePatience for what is merged into a live page,
// kPullPatience for what is pulled. Once a pull has waited for all of that in vain, the others wait
// for reads of that kind for kMergePatience, until the shard answers one: of a shard whose table is
// locked, reads of other tables are answered. Only the reader's own shard is waited for.
// Pages of one reader that need the same pull share it. A page with bodies is joined with the
// application's table (timeline/hydration.h). When its database is away, slow or busy, the page is
// served without bodies, and says so.
//
// Posts of authors whom the reader mutes are left out. A reader without mutes costs no request for
// that; the others' are remembered (timeline/mutes_cache.h). A live page waits kMergePatience for
// them. If they do not come, it is served by those remembered, or without, and says so.
//
// Reposts are folded, and shown only if their originals can be seen (timeline/fold.h). States of
// originals are remembered (original_states.h). What is not known within kMergePatience is left
// out, and the page says that it is incomplete.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/merged_posts.h"
#include "api/metrics.h"
#include "api/operations/exchange.h"
#include "api/original_states.h"
#include "api/rebuilds.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "timeline/outbox.h"
#include "timeline/reader.h"

namespace fanline::api {

// A cache of why users' timelines are empty: for each user the shards are asked at most once in
// kFor. Only the reason may be that old, never what the page shows. Bounded. Thread-safe.
class EmptyReasons {
 public:
  static constexpr Duration kFor = std::chrono::seconds(30);
  static constexpr size_t kMost = 10'000;

  std::optional<timeline::EmptyReason> Find(UserId user, Time now) {
    const std::lock_guard lock(mutex_);
    Forget(now);
    const auto found = reasons_.find(user);
    if (found == reasons_.end()) return std::nullopt;
    return found->second;
  }
  void Note(UserId user, timeline::EmptyReason reason, Time now) {
    const std::lock_guard lock(mutex_);
    Forget(now);
    if (reasons_.size() >= kMost) return;
    if (reasons_.insert_or_assign(user, reason).second) ends_.emplace_back(now + kFor, user);
  }

 private:
  void Forget(Time now) {
    while (!ends_.empty() && ends_.front().first <= now) {
      reasons_.erase(ends_.front().second);
      ends_.pop_front();
    }
  }

  std::mutex mutex_;
  std::unordered_map<UserId, timeline::EmptyReason> reasons_;
  std::deque<std::pair<Time, UserId>> ends_;
};

class Pages {
 public:
  struct Rules {
    bool own_posts = false;  // home timelines hold the reader's own
    // How late a post may arrive and still be shown to clients that ask for new posts.
    // newest_cursor stays behind by this and by how long merged posts are cached. A live page whose
    // range lags by more than this, and by more than kLate, is incomplete.
    Duration overlap = std::chrono::seconds(10);
    // The columns of bodies; null: requests for bodies are refused.
    const std::vector<std::string>* columns = nullptr;
    // At once, of readers of one shard; beyond it a page rather waits for its rebuild.
    uint32_t pulls = 16;
    std::function<bool(Shard)> away = {};  // known to be; then it waits for no rebuild either
    // For a worker of Redis, of the shards, of the application's database.
    Duration longest_wait = std::chrono::milliseconds(500);
    Duration longest_pull_wait = std::chrono::seconds(5);
    Duration longest_bodies_wait = std::chrono::milliseconds(250);
  };
  // A pusher that keeps up reports its progress every five seconds.
  static constexpr std::chrono::seconds kLate{10};
  static constexpr std::chrono::milliseconds kMergePatience{100};
  static constexpr std::chrono::seconds kPullPatience{2};

  // All outlive it. `clock`: any thread.
  Pages(Exchanges& exchanges, Rebuilds& rebuilds, const ShardMap& map, Metrics& metrics,
        std::function<Now()> clock, Rules rules)
      : exchanges_(exchanges),
        rebuilds_(rebuilds),
        map_(map),
        metrics_(metrics),
        clock_(std::move(clock)),
        rules_(rules) {}

  // `route` is of a static table. `answered` is called once, on any thread.
  void Serve(std::shared_ptr<const PageCall> call, std::string_view route, Alive alive,
             Exchange::Answered answered);

  // Adds to the bytes of answers that clients have not read yet. Above kMostKeptBytes, pages come
  // without bodies, as when their database is away. Any thread.
  void Kept(int64_t bytes) { kept_ += bytes; }

 private:
  struct Serving;
  using Shared = std::shared_ptr<Serving>;
  // Of a pull that pages may share: the reader, and what of the timeline.
  using PullKey = std::tuple<UserId, uint32_t, std::optional<std::pair<UnixMs, PostId>>,
                             std::optional<std::pair<UnixMs, PostId>>, timeline::Reposts>;
  // A shard, and the type of a request to it.
  using ReadKind = std::pair<Shard, std::type_index>;

  // Read a page, or refill one.
  void Read(const Shared& page, const timeline::PageQuery& query);
  void ReadHome(const Shared& page, bool here);
  void TakeLive(const Shared& page, LivePageRead reply);
  void MergeOrPull(const Shared& page);
  void Filter(const Shared& page, const timeline::PageRun::Requests& requests);
  using TakeOriginals = std::function<void(const OriginalsRead&)>;
  void AskOriginals(const Shared& page, const ReadOriginals& request, const TakeOriginals& take);
  void AwaitMerged(const Shared& page, const std::vector<UserId>& authors);
  void AskForMerged(UserId author, std::string_view route, Time asked);
  void PullOrAwait(const Shared& page);
  void Pull(const Shared& page);
  bool Joins(const Shared& page);
  void StepRun(const Shared& page, const timeline::PageRun::Requests& requests);
  template <class R>
  void AskShard(const Shared& page, const R& request);
  Asking AskingOf(const Serving& page, const ReadKind& read);
  Duration PatienceWith(const ReadKind& read);
  void NotePulled(const ReadKind& read, const Asking& asking, const Status& status);
  std::optional<Shard> AnySlow();
  void NoteLack(const Serving& page, const Status& status) const;
  void RunEnded(const Shared& page);
  void EndPull(const Shared& page);
  void GotPulled(const Shared& page);
  void TakeHome(const Shared& page);
  void ReadPosts(const Shared& page);
  void StepOutbox(const Shared& page, const timeline::OutboxRun::Requests& requests);
  void GotPosts(const Shared& page);
  void FindReason(const Shared& page, const Asking& asking);
  void TakeProgress(Serving& page) const;
  void GotHome(const Shared& page);
  void Got(const Shared& page);
  void GoOn(const Shared& page);
  void Send(const Shared& page);
  void ReadBodies(const Shared& page, std::vector<PostId> posts);
  void Fail(const Shared& page, const Status& status);

  Exchanges& exchanges_;
  Rebuilds& rebuilds_;
  const ShardMap& map_;
  Metrics& metrics_;
  const std::function<Now()> clock_;
  const Rules rules_;
  EmptyReasons reasons_;
  MergedPosts merged_;
  timeline::MutesCache mutes_;
  OriginalStates originals_;
  std::atomic<int64_t> kept_ = 0;

  std::mutex mutex_;
  // Pulls under way, and the pages that wait for each but the first; under mutex_.
  std::map<PullKey, std::vector<Shared>> pulls_;
  // What pulls waited for in vain, and when the next pull waits for as long; under mutex_.
  std::map<ReadKind, Time> slow_;
};

}  // namespace fanline::api
