// The stores of the reading side in memory: servers of its requests, which answer within Submit,
// and its blocking ports. Fail on demand, and count. Several threads may call it at once; public
// members may be used between calls.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fanline/ports/reader_truth.h"
#include "tests/fakes/fake_mysql.h"
#include "tests/fakes/fake_redis.h"

namespace fanline::fakes {

class FakeReaderStores
    : public ServesAll<FakeReaderStores, ReadFollowees, ReadLastAt, ReadItems, ConfirmReads,
                       ReadOutbox, LookUpUser, ReadMutes, ReadOriginals, FindSources, ReadLivePage,
                       BeginRebuild, FinishRebuild, AbandonRebuild>,
      public ReaderTruth {
 public:
  FakeReaderStores(RangeLayout layout, WindowLimits window, const ShardMap& map = OneShard())
      : ReaderTruth(*this, map), mysql(layout, 1'000), redis(layout, window) {}
  static const ShardMap& OneShard() {
    static const ShardMap map = ShardMap::Even(1);
    return map;
  }

  FakeMysql mysql;
  FakeRedis redis;
  Status mysql_fails = Status::Done(), redis_fails = Status::Done();
  Status confirm_fails = Status::Done();  // of anything that was read
  Status pages_fail = Status::Done();     // of live timelines, while rebuilds are well
  Status mutes_fail = Status::Done();     // reads of them
  std::set<Shard> away;                   // these shards answer that they are away
  bool holds = false;                     // requests to the shards wait to be answered
  std::optional<Shard> locked;            // reads of items of this one
  std::function<void()> on_read;          // of items, after it
  std::function<void()> on_fail;          // of the truth, after it
  std::function<UnixMs()> as_of;          // of every range; none: as pos: says
  size_t authors_read = 0;
  size_t looks = 0;       // reads of when authors last posted
  size_t reads = 0;       // of items
  size_t live_items = 0;  // of a live timeline that were read
  size_t most_read = 0;   // rows of the largest read
  size_t mutes_read = 0;
  size_t originals_read = 0, searches = 0;
  size_t calls = 0;  // of the truth, of any kind

  template <class R>
  void Serve(const R& request, ReplyTo<typename R::Reply> to) {
    if constexpr (requires { request.shard; }) {
      if (holds || (std::is_same_v<R, ReadItems> && locked == request.shard)) {
        held_.emplace_back(request.shard, [=, this] { Answer(request, to); });
        return;
      }
    }
    Answer(request, to);
  }
  // Answers what is held, and all that comes after it.
  void Release() {
    holds = false;
    AnswerWhatIsHeld();
  }
  // Holds what comes of it. Returns the most requests that one shard was asked at once.
  size_t AnswerWhatIsHeld() {
    std::map<Shard, size_t> asked;
    size_t most = 0;
    for (const auto& [shard, answer] : std::exchange(held_, {})) {
      most = std::max(most, ++asked[shard]);
      answer();
    }
    return most;
  }

  // The server that answered so far is gone.
  void LoseConnections() { ++server_; }

 private:
  template <class R>
  void Answer(const R& request, ReplyTo<typename R::Reply> to) {
    typename R::Reply reply;
    if constexpr (requires { request.shard; }) {
      reply.shard = request.shard;
      reply.status = away.contains(request.shard)
                         ? Status::Later("mysql_" + std::to_string(request.shard), "away")
                         : Do(request, reply);
    } else {
      reply.status = Do(request, reply);
    }
    reply.id = request.id;
    to(std::move(reply));
  }

  Status Do(const ReadFollowees& request, FolloweesRead& reply) {
    return Truth(reply, [&] {
      reply.authors = mysql.Followees(request.reader);
      reply.no_reposts = mysql.NoReposts(request.reader);
      reply.mutes = mysql.relations.mutes(request.reader);
    });
  }
  Status Do(const ReadLastAt& request, LastAtRead& reply) {
    if (++looks > 100'000) throw std::runtime_error("the pull does not end");
    return Truth(reply, [&] { reply.authors = mysql.LastAt(request.of); });
  }
  Status Do(const ReadItems& request, ItemsAnswered& reply) {
    if (request.limit == 0) throw std::invalid_argument("who reads no items reads for ever");
    Status status = Truth(reply, [&] {
      ++reads;
      authors_read += request.posts.size();
      reply.read = mysql.Items(request.posts, request.span, request.limit);
      most_read = std::max(most_read, reply.read.items.size());
    });
    if (on_read) on_read();
    return status.done() && request.proved ? confirm_fails : status;
  }
  Status Do(const ConfirmReads& request, ReadsConfirmed&) {
    const std::lock_guard lock(mutex_);
    if (request.server != server_) return Status::Later("mysql_0", "the connection was lost");
    return confirm_fails;
  }
  Status Do(const ReadOutbox& request, OutboxRead& reply) {
    return Truth(reply,
                 [&] { reply.items = mysql.Outbox(request.author, request.span, request.limit); });
  }
  Status Do(const LookUpUser& request, UserLookedUp& reply) {
    return Truth(reply, [&] { reply.facts = mysql.LookUp(request.user); });
  }
  Status Do(const ReadMutes& request, MutesRead& reply) {
    if (!mutes_fail.done()) return mutes_fail;
    return Truth(reply, [&] {
      ++mutes_read;
      reply.mutes = mysql.relations.mutes(request.reader);
    });
  }
  Status Do(const ReadOriginals& request, OriginalsRead& reply) {
    return Truth(reply, [&] {
      originals_read += request.originals.size();
      reply.states = mysql.Originals(request.originals);
    });
  }
  Status Do(const FindSources& request, SourcesFound& reply) {
    return Truth(reply, [&] {
      ++searches;
      reply.originals = mysql.Sources(request);
    });
  }
  Status Do(const BeginRebuild& request, RebuildBegan& reply) {
    if (redis.full) return Status::Later("redis", "OOM");
    return Timelines([&] { reply.begun = redis.Begin(request.reader, request.token, 1); });
  }
  Status Do(const FinishRebuild& request, RebuildFinished& reply) {
    return Timelines([&] {
      reply.applied = redis.Finish(request.reader, request.token, request.items, request.floor,
                                   request.marks, request.mutes);
    });
  }
  Status Do(const AbandonRebuild& request, RebuildAbandoned&) {
    return Timelines([&] { redis.Abandon(request.reader, request.token); });
  }
  Status Do(const ReadLivePage& request, LivePageRead& reply) {
    if (!pages_fail.done()) return pages_fail;
    return Timelines([&] {
      reply.page = redis.Read(request.reader, request.after, request.limit, request.in_front);
      live_items += reply.page.items.size();
      if (as_of) reply.page.as_of = as_of();
    });
  }
  template <typename Reply, typename Call>
  Status Truth(Reply& reply, const Call& call) {
    const std::lock_guard lock(mutex_);
    ++calls;
    if constexpr (requires { reply.server; }) reply.server = server_;
    const Status status = mysql_fails;
    if (status.done()) call();
    if (!status.done() && on_fail) on_fail();
    return status;
  }
  template <typename Call>
  Status Timelines(const Call& call) {
    const std::lock_guard lock(mutex_);
    if (redis_fails.done()) call();
    return redis_fails;
  }

  std::mutex mutex_;
  ServerId server_ = 1;
  std::vector<std::pair<Shard, std::function<void()>>> held_;
};

}  // namespace fanline::fakes
