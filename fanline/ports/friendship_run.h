// A change of a friendship, from the pair's row that is read to the one that is written:
//
//   read the row -> (is there room, at both edges -> use up a change of the hour)
//                -> (announce to both edges, once more above what they have settled) -> write
//
// What is in brackets is left out if the step needs none of it. If another change comes first, all
// but the use of a change is done again. The rule of who may do what is Decide in
// fanline/model/friendship.h; why changes are announced,
// docs/decisions/0010-friendships-are-announced.md.
//
// Passive: it returns the requests to be made, all at once, and takes the replies in any order. A
// run may end between any two of them; the change is then made or not, and may be asked for again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "fanline/ports/relation_store.h"

namespace fanline {

class FriendshipRun {
 public:
  using Request = std::variant<ReadFriendship, AskRoom, UseUpChange, AnnouncePair, WriteFriendship>;
  using Requests = std::vector<Request>;

  struct Result {
    // kNever: the state of the friendship forbids the action, or a limit does. kLater: a shard is
    // away, or the friendship was changed too often meanwhile.
    Status status = {};
    Friendship now = {};  // as it was read or written last
    bool changed = false;
    std::optional<UserId> over_limit = {};  // with kNever: this one follows as many as may be
    std::optional<std::chrono::seconds> again_in = {};  // with kNever: as in ChangeUsedUp
  };

  // `who` requests, accepts, ..., a friendship with `whom`, another user. Only steps that ask for a
  // friendship or begin it have limits: `who` uses up one of the changes of an hour, and both must
  // have room for a new edge. The edges come later, so a user who begins several friendships before
  // the mirror has written the first may exceed the limit of followed users by these.
  //
  // `unix_us`: wall time, which keeps versions time-like.
  FriendshipRun(FriendAction action, UserId who, UserId whom, uint64_t unix_us)
      : action_(action), who_(who), whom_(whom), unix_us_(unix_us) {}

  Requests Begin() const { return {ReadFriendship{0, who_, whom_}}; }

  // Each returns the next requests; none while others are under way, and when the run is done.
  Requests On(const FriendshipRead& reply);
  Requests On(const RoomAsked& reply);
  Requests On(const ChangeUsedUp& reply);
  Requests On(const PairAnnounced& reply);
  Requests On(const FriendshipWritten& reply);

  bool done() const { return done_; }
  const Result& result() const { return result_; }

 private:
  Requests TakeAChange();
  Requests GoOn();
  Requests Announce(bool again);
  Requests Write();
  // Ends the run unless `status` is done.
  bool Fails(const Status& status);
  Requests End(Status status);

  const FriendAction action_;
  const UserId who_, whom_;
  const uint64_t unix_us_;

  uint32_t attempt_ = 0;
  uint64_t version_ = 0;
  bool announces_ = false, announced_again_ = false;
  bool taken_ = false;  // a change of the hour was used up
  uint64_t settled_ = 0;
  int under_way_ = 0;  // of two requests that are made together
  bool done_ = false;
  Result result_;
};

}  // namespace fanline
