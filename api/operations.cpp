#include "api/operations.h"

#include "api/responses.h"
#include "fanline/friendship.h"

namespace fanline::api {
namespace {

Performed Done(Response response) { return {std::move(response), Status::Done()}; }

Performed Refused(Problem problem) { return Done(ToResponse(problem)); }

// Later: a shard is away. Never is a fault here, since what users may do wrong was looked at before
// and is refused in words of its own.
Performed Failed(Status status) {
  const Problem problem = status.later() ? StoreAway() : ProblemOfStatus(500);
  return {ToResponse(problem), std::move(status)};
}

class Performer {
 public:
  Performer(RelationStore& store, const Limits& limits, UnixMs unix_ms)
      : store_(store), limits_(limits), unix_us_(static_cast<uint64_t>(unix_ms) * 1000) {}

  Performed operator()(const FollowCall& call) {
    FollowingChanged changed;
    Status status = store_.ChangeFollowing(call.edge, call.live, unix_us_, &changed);
    if (changed.over_limit) return Refused(FollowingLimit(call.edge.src));
    if (!status.done()) return Failed(std::move(status));
    return Done(FollowResponse(call, changed));
  }

  Performed operator()(const RelationCall& call) {
    PairState pair;
    Status status = store_.ReadPair(call.user, call.other, &pair);
    if (!status.done()) return Failed(std::move(status));
    if (pair.following.ver < call.min_version) return Refused(TooOld(call, pair));
    return Done(RelationResponse(call, pair));
  }

  Performed operator()(const FriendshipCall& call) {
    return call.action ? Change(call, *call.action) : Read(call);
  }

  Performed operator()(const ListCall& call) {
    ListPage page;
    Status status = store_.ReadList(call.list, call.user, call.after, call.limit, &page);
    if (!status.done()) return Failed(std::move(status));
    std::vector<Relation> relations;
    if (call.relation_to) status = RelationsOf(*call.relation_to, page, &relations);
    if (!status.done()) return Failed(std::move(status));
    return Done(ListResponse(page, relations));
  }

  Performed operator()(const CheckCall& call) {
    std::vector<CheckAnswer> answers;
    Status status = store_.Check(call.user, call.items, call.sides, &answers);
    if (!status.done()) return Failed(std::move(status));
    return Done(CheckResponse(call, answers));
  }

  Performed operator()(const FamiliarCall& call) {
    std::vector<UserId> users;
    Status status = store_.FollowedWhoFollow(call.user, call.other, call.limit, &users);
    if (!status.done()) return Failed(std::move(status));
    return Done(FamiliarResponse(users));
  }

  Performed operator()(const CountsCall& call) {
    RelationCounts counts;
    Status status = store_.Counts(call.user, &counts);
    if (!status.done()) return Failed(std::move(status));
    return Done(CountsResponse(call, counts));
  }

 private:
  Performed Read(const FriendshipCall& call) {
    Friendship now;
    Status status = store_.ReadFriendship(call.user, call.other, &now);
    if (!status.done()) return Failed(std::move(status));
    return Done(FriendshipResponse(call, now, std::nullopt));
  }

  Performed Change(const FriendshipCall& call, FriendAction action) {
    FriendshipStep step;
    Status status = store_.ChangeFriendship(action, call.user, call.other, unix_us_, &step);
    if (status.never()) {
      // The rule itself says why, of what the store found; a refusal it does not know is a fault.
      const char* refusal = Decide(step.now, action, call.user).refusal;
      if (refusal != nullptr) return Refused(Conflict(refusal));
    }
    if (!status.done()) return Failed(std::move(status));
    return Done(FriendshipResponse(call, step.now, step.changed));
  }

  // How `viewer` stands to every entry; to themselves, who may be among them, not at all.
  Status RelationsOf(UserId viewer, const ListPage& page, std::vector<Relation>* out) {
    std::vector<CheckItem> items;
    for (const ListEntry& entry : page.entries) items.push_back({.user = Raw(entry.user)});
    std::vector<CheckAnswer> answers;
    Status status = store_.Check(viewer, items, Sides::kBoth, &answers);
    for (const CheckAnswer& answer : answers) out->push_back(answer.relation);
    return status;
  }

  Problem FollowingLimit(UserId user) const {
    return {Code::kFollowingLimit, "user " + ToString(user) + " follows " +
                                       std::to_string(limits_.following_limit) +
                                       " users already; unfollow somebody first"};
  }

  static Problem TooOld(const RelationCall& call, const PairState& pair) {
    return {Code::kVersionNotReached, "the relation is at version " +
                                          std::to_string(pair.following.ver) + ", not " +
                                          std::to_string(call.min_version) +
                                          "; send a version that a change of this very relation "
                                          "was answered with, or none"};
  }

  static Problem Conflict(const std::string& refusal) {
    return {Code::kFriendshipConflict,
            refusal + "; read the friendship to see how things stand between them"};
  }

  RelationStore& store_;
  const Limits& limits_;
  const uint64_t unix_us_;
};

}  // namespace

Performed Perform(const Call& call, RelationStore& store, const Limits& limits, UnixMs unix_ms) {
  return std::visit(Performer(store, limits, unix_ms), call);
}

Problem StoreAway() {
  return {Code::kStoreUnavailable,
          "the part of the store that holds this cannot be reached; send it again later. A change "
          "may have been made all the same, and asking for it again is safe"};
}

}  // namespace fanline::api
