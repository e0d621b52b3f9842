#include "fanline/ports/friendship_run.h"

#include <algorithm>
#include <utility>

namespace fanline {
namespace {

constexpr uint32_t kMostAttempts = 10;  // the last one leaves room for 512 changes of others

}  // namespace

FriendshipRun::Requests FriendshipRun::On(const FriendshipRead& reply) {
  if (Fails(reply.status)) return {};
  result_.now = reply.now;
  const FriendStep step = Decide(reply.now, action_, who_);
  if (step.refusal != nullptr) return End(Status::Never(step.refusal));
  if (!step.changes) return End(Status::Done());
  // Leaves room for others who change the row meanwhile, and more with every attempt.
  version_ = std::max(reply.now.ver + (uint64_t{1} << attempt_), unix_us_);
  announces_ = attempt_ > 0 || BeginsOrEnds(reply.now.state, step.state);
  if (step.state == FriendState::kFriends) {
    under_way_ = 2;
    return {AskRoom{0, {who_, whom_}}, AskRoom{0, {whom_, who_}}};
  }
  return step.state == FriendState::kAsked ? TakeAChange() : GoOn();
}

FriendshipRun::Requests FriendshipRun::On(const RoomAsked& reply) {
  if (done_) return {};
  result_.over_limit = reply.full;
  if (Fails(reply.status) || --under_way_ > 0) return {};
  return TakeAChange();
}

FriendshipRun::Requests FriendshipRun::TakeAChange() {
  if (taken_) return GoOn();
  return {UseUpChange{0, who_}};
}

FriendshipRun::Requests FriendshipRun::On(const ChangeUsedUp& reply) {
  result_.again_in = reply.again_in;
  if (Fails(reply.status)) return {};
  taken_ = true;
  return GoOn();
}

FriendshipRun::Requests FriendshipRun::GoOn() { return announces_ ? Announce(false) : Write(); }

FriendshipRun::Requests FriendshipRun::Announce(bool again) {
  announced_again_ = again;
  under_way_ = 2;
  return {AnnouncePair{0, {who_, whom_}, version_}, AnnouncePair{0, {whom_, who_}, version_}};
}

// If versions were settled that are not lower, announces once more above them. Versions settled
// between the two announcements belong to changes made meanwhile, which may win.
FriendshipRun::Requests FriendshipRun::On(const PairAnnounced& reply) {
  if (done_ || Fails(reply.status)) return {};
  settled_ = std::max(settled_, reply.settled);
  if (--under_way_ > 0) return {};
  if (announced_again_ || settled_ < version_) return Write();
  version_ = settled_ + 1;
  return Announce(true);
}

FriendshipRun::Requests FriendshipRun::Write() {
  return {WriteFriendship{0, action_, who_, whom_, version_, announces_, unix_us_}};
}

FriendshipRun::Requests FriendshipRun::On(const FriendshipWritten& reply) {
  if (Fails(reply.status)) return {};
  result_.now = reply.now;
  result_.changed = reply.changed;
  if (!reply.overtaken) {
    const char* refusal = reply.changed ? nullptr : Decide(reply.now, action_, who_).refusal;
    return End(refusal == nullptr ? Status::Done() : Status::Never(refusal));
  }
  if (++attempt_ < kMostAttempts) {
    settled_ = 0;
    return Begin();
  }
  return End(Status::Later({}, "this friendship is being changed too often"));
}

bool FriendshipRun::Fails(const Status& status) {
  if (status.done()) return false;
  (void)End(status);
  return true;
}

FriendshipRun::Requests FriendshipRun::End(Status status) {
  done_ = true;
  result_.status = std::move(status);
  return {};
}

}  // namespace fanline
