#include "timeline/rebuild_run.h"

#include <utility>

namespace fanline::timeline {
namespace {

RebuildRun::Requests Widened(const TruthReads::Requests& requests) {
  RebuildRun::Requests all;
  for (const auto& request : requests) {
    std::visit([&](const auto& each) { all.emplace_back(each); }, request);
  }
  return all;
}

}  // namespace

RebuildRun::Requests RebuildRun::GoOn() {
  const RebuildNeed need = rebuild_.needed();
  if (const auto* begin = std::get_if<NeedBegin>(&need)) {
    return {BeginRebuild{0, reader_, begin->token}};
  }
  if (std::holds_alternative<NeedFollowees>(need)) return Widened(reads_.Followees(reader_));
  if (const auto* last_at = std::get_if<NeedLastAt>(&need)) {
    return Widened(reads_.LastAt(last_at->authors));
  }
  if (const auto* items = std::get_if<NeedItems>(&need)) {
    return Widened(reads_.Items(items->posts, items->span, items->limit));
  }
  if (std::holds_alternative<NeedFinish>(need)) return Widened(reads_.Confirm());
  done_ = true;
  return {};
}

template <class Give>
RebuildRun::Requests RebuildRun::Next(const Status& status, const Give& give) {
  if (!status.done()) return Abandon(status);
  give();
  return GoOn();
}

RebuildRun::Requests RebuildRun::On(const RebuildBegan& reply) {
  return Next(reply.status, [&] { rebuild_.OnBegun(reply.begun); });
}

// A user who follows somebody is known, so few have to be looked up.
RebuildRun::Requests RebuildRun::On(FolloweesRead reply) {
  if (!reads_.On(std::move(reply))) return {};
  std::vector<UserId> authors = reads_.TakeFollowees();
  if (reads_.status().done() && authors.empty() && admit_ && !admitted_) {
    return {LookUpUser{0, map_.ShardOf(reader_), reader_}};
  }
  return Next(reads_.status(), [&] { rebuild_.OnFollowees(std::move(authors)); });
}

RebuildRun::Requests RebuildRun::On(const UserLookedUp& reply) {
  if (!reply.status.done()) return Abandon(reply.status);
  admitted_ = reply.facts.known || admit_();
  if (admitted_) return Next({}, [&] { rebuild_.OnFollowees({}); });
  rebuild_.OnNotAdmitted();
  return Abandon({});
}

RebuildRun::Requests RebuildRun::On(LastAtRead reply) {
  if (!reads_.On(std::move(reply))) return {};
  return Next(reads_.status(), [&] { rebuild_.OnLastAt(reads_.TakeLastAt()); });
}

RebuildRun::Requests RebuildRun::On(ItemsAnswered reply) {
  if (!reads_.On(std::move(reply))) return {};
  return Next(reads_.status(), [&] { rebuild_.OnItems(reads_.TakeItems()); });
}

RebuildRun::Requests RebuildRun::On(const ReadsConfirmed& reply) {
  if (!reads_.On(reply)) return {};
  return reads_.status().done() ? Finish() : Abandon(reads_.status());
}

RebuildRun::Requests RebuildRun::Finish() {
  auto need = std::get<NeedFinish>(rebuild_.needed());
  return {FinishRebuild{0, reader_, std::move(need.token), std::move(need.items), need.floor,
                        std::move(need.marked)}};
}

RebuildRun::Requests RebuildRun::On(const RebuildFinished& reply) {
  return Next(reply.status, [&] { rebuild_.OnFinished(reply.applied); });
}

RebuildRun::Requests RebuildRun::Abandon(const Status& status) {
  status_ = status;
  return {AbandonRebuild{0, reader_, rebuild_.token()}};
}

// If that failed as well, what was begun expires.
RebuildRun::Requests RebuildRun::On(const RebuildAbandoned& reply) {
  done_ = true;
  if (status_.done()) status_ = reply.status;
  return {};
}

}  // namespace fanline::timeline
