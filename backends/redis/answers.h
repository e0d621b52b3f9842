// Which reply answers which request, and the reply of a request that could not be carried out.
#pragma once

#include <type_traits>
#include <variant>

#include "fanline/live_timelines.h"

namespace fanline::redis {

template <class Request>
struct AnswerTo;
template <>
struct AnswerTo<ClaimRange> {
  using Type = RangeClaimed;
};
template <>
struct AnswerTo<ResetRange> {
  using Type = RangeReset;
};
template <>
struct AnswerTo<SavePosition> {
  using Type = PositionSaved;
};
template <>
struct AnswerTo<TimelineBatch> {
  using Type = BatchWritten;
};
template <>
struct AnswerTo<ReadTimeline> {
  using Type = TimelineRead;
};
template <>
struct AnswerTo<ApplySync> {
  using Type = SyncApplied;
};
template <>
struct AnswerTo<DropTimeline> {
  using Type = TimelineDropped;
};
template <>
struct AnswerTo<MarkPart> {
  using Type = PartMarked;
};

// Requests that need a claimed range answer with needs_claim; a claim and a mark do not.
template <class Request>
inline constexpr bool kNeedsClaimedRange = requires(typename AnswerTo<Request>::Type answer) {
  answer.needs_claim;
};

template <class Request>
typename AnswerTo<Request>::Type Failed(const Request& request, Status status, bool needs_claim) {
  typename AnswerTo<Request>::Type answer;
  answer.id = request.id;
  answer.status = std::move(status);
  if constexpr (kNeedsClaimedRange<Request>) answer.needs_claim = needs_claim;
  return answer;
}

inline TimelineReply Failed(const TimelineRequest& request, Status status, bool needs_claim) {
  return std::visit(
      [&](const auto& r) -> TimelineReply { return Failed(r, std::move(status), needs_claim); },
      request);
}

}  // namespace fanline::redis
