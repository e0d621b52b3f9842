// The kinds of requests that a node serves, where their replies go, and the reply to a request that
// failed.
#pragma once

#include <utility>
#include <variant>

#include "fanline/ports/live_timelines.h"
#include "fanline/ports/port.h"

namespace fanline::redis {

template <template <class> class Of>
using OfEach = std::variant<Of<ClaimRange>, Of<ResetRange>, Of<SavePosition>, Of<TimelineBatch>,
                            Of<ReadTimeline>, Of<ApplySync>, Of<DropTimeline>, Of<MarkPart>>;

template <class R>
struct Submission {
  R request;
  ReplyTo<typename R::Reply> to;
};
template <class R>
struct Open {
  uint64_t id = 0;
  ReplyTo<typename R::Reply> to;
};
template <class R>
struct Answered {
  typename R::Reply reply;
  ReplyTo<typename R::Reply> to;
};

// Replies of requests that need a claimed range have needs_claim. ClaimRange and MarkPart need
// none.
template <class R>
inline constexpr bool kNeedsClaimedRange = requires(typename R::Reply reply) {
  reply.needs_claim;
};

template <class R>
Answered<R> Failed(const Open<R>& open, Status status, bool needs_claim) {
  typename R::Reply reply;
  reply.id = open.id;
  reply.status = std::move(status);
  if constexpr (kNeedsClaimedRange<R>) reply.needs_claim = needs_claim;
  return {std::move(reply), open.to};
}

}  // namespace fanline::redis
