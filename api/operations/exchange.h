// How an operation on relations asks the shards. It goes on when the reply is there, and no thread
// waits meanwhile:
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
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "api/operations/call.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/port.h"
#include "fanline/ports/relation_store.h"

namespace fanline::api {

using RelationReply =
    std::variant<EdgeChanged, PairRead, ListRead, RelationsCounted, UsersChecked, ForwardRead,
                 FriendshipRead, RoomAsked, ChangeUsedUp, PairAnnounced, FriendshipWritten>;

class Exchanges;

// The exchange of one request.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  // `failed`: not done if a store failed, with its own words, which clients never see.
  using Answered = std::function<void(Response, const Status& failed)>;

  // `turn`: of each request to a shard, without its time.
  Exchange(Exchanges& all, Turn turn, uint64_t unix_us, Answered answered)
      : all_(all), turn_(std::move(turn)), unix_us_(unix_us), answered_(std::move(answered)) {}

  template <class R>
  void Ask(R request, std::function<void(const typename R::Reply&)> then);

  // The first answer counts; the exchange ends with it.
  void Answer(const Json& body);

  uint64_t unix_us() const { return unix_us_; }  // wall time of its beginning
  uint32_t following_limit() const;
  const ShardMap& map() const;

 private:
  friend class Exchanges;
  using Step = std::function<void()>;

  // Takes the step now, or leaves it to the thread that is taking one.
  void Take(Step step);
  void End(Response response, const Status& failed = {});

  Exchanges& all_;
  const Turn turn_;
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

  // `edges` and `shards` reply to it, so it outlives both, and `map`.
  template <class Server>
  Exchanges(Serves<ChangeEdge>& edges, Server& shards, const ShardMap& map, Rules rules,
            std::function<Now()> clock)
      : edges_(edges, *this),
        shards_(shards, *this),
        map_(map),
        rules_(rules),
        clock_(std::move(clock)) {}

  // `answered` is called once, on any thread, also within Begin.
  void Begin(const Call& call, Alive alive, Exchange::Answered answered);

  // The replies.
  void Push(RelationReply reply);

 private:
  friend class Exchange;
  using Then = std::function<void(const RelationReply&)>;
  struct Pending {
    std::shared_ptr<Exchange> by;
    Then then;
  };

  // Returns the request's id.
  uint64_t Note(std::shared_ptr<Exchange> by, Then then);
  Turn InTime(Turn turn) const;

  void Submit(ChangeEdge request, Turn turn) { edges_.Submit(request, std::move(turn)); }
  template <class R>
  void Submit(R request, Turn turn) {
    shards_.Submit(std::move(request), std::move(turn));
  }

  const Port<ChangeEdge> edges_;
  const RelationPort shards_;
  const ShardMap& map_;
  const Rules rules_;
  const std::function<Now()> clock_;

  std::mutex mutex_;
  std::unordered_map<uint64_t, Pending> pending_;  // under mutex_
  uint64_t last_id_ = 0;                           // under mutex_
};

template <class R>
void Exchange::Ask(R request, std::function<void(const typename R::Reply&)> then) {
  request.id = all_.Note(shared_from_this(), [then = std::move(then)](const RelationReply& reply) {
    then(std::get<typename R::Reply>(reply));
  });
  all_.Submit(std::move(request), all_.InTime(turn_));
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
