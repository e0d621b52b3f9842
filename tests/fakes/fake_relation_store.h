// Serves relations in memory: both directions of an edge change at once. Answers within Submit, and
// fails on demand.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "fanline/ports/forward_edges.h"
#include "fanline/ports/relation_store.h"

namespace fanline::fakes {

class FakeRelationStore
    : public ServesAll<FakeRelationStore, ChangeEdge, ReadPair, ReadList, CountRelations,
                       CheckUsers, ReadForward, ReadFriendship, AskRoom, UseUpChange, AnnouncePair,
                       WriteFriendship, ChangeMutes, ReadReposters, ReadRepostsBy> {
 public:
  size_t most_followed = 5'000;
  size_t changes = SIZE_MAX;     // allowed to each user; then one a minute
  Status fail = Status::Done();  // what every request is answered, unless done
  std::vector<Turn> turns;       // of all requests so far
  // On the shards of a test.
  std::function<MutesChanged(const ChangeMutes&)> change_mutes;
  std::function<RepostersRead(const ReadReposters&)> reposters;
  std::function<RepostsByRead(const ReadRepostsBy&)> reposts_by;

  template <class R>
  void Serve(const R& request, ReplyTo<typename R::Reply> to, const Turn& turn) {
    turns.push_back(turn);
    typename R::Reply reply;
    if (fail.done()) {
      reply = Do(request);
    } else {
      reply.status = fail;
    }
    reply.id = request.id;
    to(std::move(reply));
  }

 private:
  EdgeChanged Do(const ChangeEdge& request);
  PairRead Do(const ReadPair& request) const;
  ListRead Do(const ReadList& request) const;
  RelationsCounted Do(const CountRelations& request) const;
  UsersChecked Do(const CheckUsers& request) const;
  ForwardRead Do(const ReadForward& request) const;
  FriendshipRead Do(const ReadFriendship& request) const;
  RoomAsked Do(const AskRoom& request) const;
  ChangeUsedUp Do(const UseUpChange& request);
  PairAnnounced Do(const AnnouncePair&) const { return {}; }
  FriendshipWritten Do(const WriteFriendship& request);
  MutesChanged Do(const ChangeMutes& request) const { return change_mutes(request); }
  RepostersRead Do(const ReadReposters& request) const { return reposters(request); }
  RepostsByRead Do(const ReadRepostsBy& request) const { return reposts_by(request); }

  EdgeState Of(UserId src, UserId dst) const;
  Friendship PairOf(UserId one, UserId other) const;
  bool Lists(UserList list, const EdgeKey& key, UserId user) const;
  std::vector<ListEntry> All(UserList list, UserId user) const;  // newest first

  bool Full(const EdgeKey& edge) const;
  std::optional<std::chrono::seconds> TakeChange(UserId user);

  std::map<UserId, size_t> taken_;
  std::map<EdgeKey, EdgeState> edges_;
  std::map<std::pair<UserId, UserId>, Friendship> friendships_;  // smaller id first
};

}  // namespace fanline::fakes
