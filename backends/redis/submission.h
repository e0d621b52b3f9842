// The kinds of requests that a node serves, and the reply to one that failed.
#pragma once

#include <utility>
#include <variant>

#include "fanline/ports/live_timelines.h"
#include "fanline/ports/port.h"

namespace fanline::redis {

using Submission =
    std::variant<Submitted<ClaimRange>, Submitted<ResetRange>, Submitted<SavePosition>,
                 Submitted<TimelineBatch>, Submitted<ReadTimeline>, Submitted<ApplySync>,
                 Submitted<DropTimeline>, Submitted<MarkPart>>;

// Replies of requests that need a claimed range have needs_claim. ClaimRange and MarkPart need
// none.
template <class R>
inline constexpr bool kNeedsClaimedRange = requires(typename R::Reply reply) {
  reply.needs_claim;
};

template <class R>
typename R::Reply Failed(uint64_t id, Status status, bool needs_claim) {
  typename R::Reply reply;
  reply.id = id;
  reply.status = std::move(status);
  if constexpr (kNeedsClaimedRange<R>) reply.needs_claim = needs_claim;
  return reply;
}

}  // namespace fanline::redis
