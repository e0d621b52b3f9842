// How an operation, a page or a rebuild asks the stores. It goes on when the reply is there, and no
// thread waits meanwhile:
//
//   shards.Ask(CountRelations{.user = user}, [&shards](const RelationsCounted& reply) {
//     OrFail(reply.status);
//     shards.Answer({{"followers", reply.counts.followers}});
//   });
//
// What is asked without waiting for a reply is under way together. The functions of one exchange
// are called one at a time, on the threads that bring the replies, until it is answered. Each may
// throw Refused or StoreFailed, which is the answer then.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "api/operations/call.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/port.h"
#include "fanline/ports/post_bodies.h"
#include "fanline/ports/reader_truth.h"
#include "fanline/ports/relation_store.h"

namespace fanline::api {

using AnyReply =
    std::variant<EdgeChanged, PairRead, ListRead, RelationsCounted, UsersChecked, ForwardRead,
                 FriendshipRead, RoomAsked, ChangeUsedUp, PairAnnounced, FriendshipWritten,
                 FolloweesRead, LastAtRead, ItemsAnswered, ReadsConfirmed, OutboxRead, UserLookedUp,
                 MutesRead, MutesChanged, OriginalsRead, SourcesFound, LivePageRead, RebuildBegan,
                 RebuildFinished, RebuildAbandoned, BodiesAnswered, RepostersRead, RepostsByRead>;

// How a request is asked.
struct Asking {
  Work work = Work::kLookups;
  Duration longest_wait = Duration::max();  // for a worker of the store
  // It fails as if its store were away when there is no reply by then.
  Duration patience = Duration::max();
  bool here = false;  // the thread may be used by the store
};

class Exchanges;

// The exchange of one request.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  // `failed`: not done if a store failed, with its own words, which clients never see.
  using Answered = std::function<void(Response, const Status& failed)>;

  // `asking`: of requests for which nothing else is said.
  Exchange(Exchanges& all, const Asking& asking, Alive alive, uint64_t unix_us, Answered answered)
      : all_(all),
        asking_(asking),
        alive_(std::move(alive)),
        unix_us_(unix_us),
        answered_(std::move(answered)) {}

  template <class R>
  void Ask(R request, std::function<void(typename R::Reply&)> then) {
    Ask(std::move(request), asking_, std::move(then));
  }
  template <class R>
  void Ask(R request, const Asking& asking, std::function<void(typename R::Reply&)> then);
  // Waits for a reply that somebody brings to Exchanges::Push with the id that is returned.
  // `failure` comes if there is none in time, with a status that names its shard.
  template <class Reply>
  uint64_t Await(Reply failure, Duration patience, std::function<void(Reply&)> then);

  using Step = std::function<void()>;
  // Takes the step now, or leaves it to the thread that is taking one.
  void Take(Step step);

  // The first answer counts; the exchange ends with it.
  void Answer(const Json& body);
  void Answer(Response response, const Status& failed = {});

  // Whether the client has left.
  bool left() const { return Turn{.alive = alive_}.Dead(); }
  const Alive& alive() const { return alive_; }

  uint64_t unix_us() const { return unix_us_; }  // wall time of its beginning
  uint32_t following_limit() const;
  const ShardMap& map() const;

 private:
  Exchanges& all_;
  const Asking asking_;
  const Alive alive_;
  const uint64_t unix_us_;
  Answered answered_;  // empty once it was called; for the thread that takes steps

  std::mutex mutex_;
  std::deque<Step> steps_;  // to be taken; under mutex_
  bool taking_ = false;     // a thread takes steps; under mutex_
};

// All exchanges under way, and the address of their replies. Thread-safe.
class Exchanges {
 public:
  struct Rules {
    uint32_t following_limit = kMostFollowed;
    Duration longest_wait = std::chrono::milliseconds(500);  // of a request for a shard's worker
  };

  // The servers reply to it, so it outlives them, and `map`. `bodies` may be null: nobody asks it.
  template <class Relations, class Truth, class Timelines>
  Exchanges(Serves<ChangeEdge>& edges, Relations& relations, Truth& truth, Timelines& timelines,
            Serves<ReadBodies>* bodies, const ShardMap& map, Rules rules,
            std::function<Now()> clock)
      : edges_(edges, *this),
        relations_(relations, *this),
        truth_(truth, *this),
        timelines_(timelines, *this),
        map_(map),
        rules_(rules),
        clock_(std::move(clock)) {
    if (bodies != nullptr) bodies_.emplace(*bodies, *this);
  }

  // `answered` is called once, on any thread, also within Begin.
  void Begin(const Call& call, Alive alive, Exchange::Answered answered);
  // `begin`: the exchange's first step.
  void Begin(const std::function<void(Exchange&)>& begin, const Asking& asking, Alive alive,
             Exchange::Answered answered);

  // Fails the requests whose askers' patience is over. Returns when to call it again.
  Time Step(Time now);

  // The replies.
  void Push(AnyReply reply);

 private:
  friend class Exchange;
  using Then = std::function<void(AnyReply&)>;
  struct Pending {
    std::shared_ptr<Exchange> by;
    Then then;
  };
  static constexpr Duration kTick = std::chrono::milliseconds(20);

  // Returns the request's id.
  uint64_t Note(std::shared_ptr<Exchange> by, Then then);
  void NoteFailure(Time at, AnyReply failure);
  Turn TurnOf(const Asking& asking, const Alive& alive) const;

  void Submit(ChangeEdge request, Turn turn) { edges_.Submit(request, std::move(turn)); }
  template <class R>
  void Submit(R request, Turn turn) {
    if constexpr (requires { relations_.Submit(std::move(request), turn); }) {
      relations_.Submit(std::move(request), std::move(turn));
    } else if constexpr (requires { truth_.Submit(std::move(request), turn); }) {
      truth_.Submit(std::move(request), std::move(turn));
    } else if constexpr (requires { timelines_.Submit(std::move(request), turn); }) {
      timelines_.Submit(std::move(request), std::move(turn));
    } else {
      turn.work_class = 0;
      bodies_->Submit(std::move(request), std::move(turn));
    }
  }

  const Port<ChangeEdge> edges_;
  const RelationPort relations_;
  const TruthPort truth_;
  const TimelinePort timelines_;
  std::optional<Port<ReadBodies>> bodies_;
  const ShardMap& map_;
  const Rules rules_;
  const std::function<Now()> clock_;

  std::mutex mutex_;
  std::unordered_map<uint64_t, Pending> pending_;  // under mutex_
  std::multimap<Time, AnyReply> failures_;  // what to reply if nothing else has come; under mutex_
  uint64_t last_id_ = 0;                    // under mutex_
};

template <class R>
void Exchange::Ask(R request, const Asking& asking, std::function<void(typename R::Reply&)> then) {
  typename R::Reply failure;
  if constexpr (requires { failure.shard = request.shard; }) failure.shard = request.shard;
  request.id = Await(std::move(failure), asking.patience, std::move(then));
  all_.Submit(std::move(request), all_.TurnOf(asking, alive_));
}

template <class Reply>
uint64_t Exchange::Await(Reply failure, Duration patience, std::function<void(Reply&)> then) {
  failure.id = all_.Note(shared_from_this(), [then = std::move(then)](AnyReply& reply) {
    then(std::get<Reply>(reply));
  });
  const uint64_t id = failure.id;
  if (patience == Duration::max()) return id;
  std::string resource;
  if constexpr (requires { failure.shard; }) resource = ResourceOf(failure.shard);
  failure.status = Status::Later(std::move(resource), "no reply in time");
  failure.status.cause = Cause::kAway;
  all_.NoteFailure(all_.clock_().mono + patience, std::move(failure));
  return id;
}

// The store failed. Later: a shard is away or busy. Never: our fault, because operations turn
// users' mistakes into Refused.
struct StoreFailed {
  Status status;
};

inline void OrFail(const Status& status) {
  if (!status.done()) throw StoreFailed{status};
}

// An operation that asks once. `answer` returns the body.
template <class R>
Call AskOnce(R request, std::function<Json(const typename R::Reply&)> answer) {
  return {.begin = [request, answer = std::move(answer)](Exchange& shards) {
    shards.Ask(request, [&shards, answer](const typename R::Reply& reply) {
      OrFail(reply.status);
      shards.Answer(answer(reply));
    });
  }};
}

// Ends an operation whose change the installation's limits forbid (fanline/ports/forward_edges.h).
// `over`: the user who is at the limit of followed users. `again_in`: when `user`, who has changed
// as much as an hour allows, may change something again.
void RefuseByLimits(const std::optional<UserId>& over, UserId user,
                    const std::optional<std::chrono::seconds>& again_in, const Exchange& shards);

}  // namespace fanline::api
