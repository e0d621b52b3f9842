// What clients do: publish, change posts, follow and unfollow, become friends and part. Their own
// record of it is the model that every timeline and every edge is held against.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fanline/wire/event_codec.h"
#include "tests/sim/friends.h"

namespace fanline::sim {

struct Clients : Friends {
  using Friends::Friends;

  static constexpr uint64_t kFirstAuthor = 101;
  static constexpr uint64_t kFirstPost = 1'000;

  // What the clients did: the model every timeline is held against.
  std::map<PostId, UserId> author_of;
  UnixMs last_created = kEpoch;
  std::vector<FeedEvent> events;
  std::map<PostId, uint64_t> versions;

  UserId AnyReader() { return UserId{1 + Pick(character.readers)}; }
  UserId AnyAuthor() { return UserId{kFirstAuthor + Pick(character.authors)}; }

  void Emit(const FeedEvent& event) {
    events.push_back(event);
    const int copies = faults && Chance(15) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      // Producers retry and take their time: events arrive in any order.
      Later("event", 0, [this, event] {
        Append(feed, static_cast<int32_t>(Pick(kFeedPartitions)), EncodeEventJson(event));
      });
    }
  }

  void ClientActs() {
    const Character& of = character;
    switch (Draw({of.publish, of.change, of.follow, of.befriend, of.relation_event})) {
      case 0:
        Publish();
        return;
      case 1:
        if (!author_of.empty()) ChangePost(AnyPost());
        return;
      case 2:
        FollowAny();
        return;
      case 3:
        BefriendAny();
        return;
      default:
        if (Chance(10)) return EmitUnusable({AnyReader(), AnyAuthor()});
        EmitRelation({AnyReader(), AnyAuthor()});
    }
  }

  void FollowAny() {
    if (character.befriend > 0 && Chance(30)) return Follow(AnyAuthor(), AnyReader(), Chance(60));
    Follow(AnyReader(), AnyAuthor(), Chance(60));
  }

  void BefriendAny() {
    UserId who = AnyReader(), whom = AnyAuthor();
    if (Chance(50)) std::swap(who, whom);
    constexpr FriendAction kActions[] = {FriendAction::kRequest, FriendAction::kAccept,
                                         FriendAction::kRemove, FriendAction::kRefuse,
                                         FriendAction::kCancel};
    Befriend(kActions[Draw({8, 6, 6, 1, 1})], who, whom);
  }

  PostId AnyPost() {
    const uint64_t known = author_of.size();
    const uint64_t among = Chance(character.recent) ? std::min<uint64_t>(known, 3) : known;
    return PostId{kFirstPost + known - 1 - Pick(among)};
  }

  void Publish() {
    if (author_of.size() >= character.posts) return;
    const UserId author = AnyAuthor();
    // Some posts come late, and some have equal times.
    UnixMs created =
        now.unix_ms - static_cast<int64_t>(Chance(character.late) ? Pick(1'000) : Pick(3));
    if (Chance(10)) created = last_created;
    last_created = created;
    const PostId post = Post(author, created);
    // An application publishes again with another time: the first publish to arrive wins.
    if (Chance(5))
      Emit({EventKind::kPublished, post, author, created + 1 + static_cast<int64_t>(Pick(50)), 0});
  }

  PostId Post(UserId author, UnixMs created) {
    const PostId post{kFirstPost + author_of.size()};
    author_of[post] = author;
    Trace(ToString(author) + " publishes " + ToString(post));
    Emit({EventKind::kPublished, post, author, created, 0});
    ++counts.published;
    return post;
  }

  void ChangePost(PostId post) {
    const UserId author = author_of.at(post);
    switch (Pick(4)) {
      case 0:
        Emit({EventKind::kDeleted, post, author, 0, 0});
        ++counts.deleted;
        return;
      case 1:
      case 2:
        Emit({Chance(50) ? EventKind::kHidden : EventKind::kUnhidden, post, author, 0,
              ++versions[post]});
        ++counts.hidden;
        return;
      default:
        Emit({EventKind::kEdited, post, author, 0, ++versions[post]});
        ++counts.edited;
    }
  }

  // The forward row and its row of log1, in one transaction; the mirrors do the rest.
  void Follow(UserId reader, UserId author, bool live) {
    if (Away(shards.ShardOf(reader))) return;  // refused
    said.AtOnce({reader, author}, live);
    if (mysql.relations.AwaitsFriendship({reader, author})) Count(Letter::kFriendshipSettled);
    const auto unix_us = static_cast<uint64_t>(now.unix_ms) * 1000;
    const auto changed = mysql.relations.Do(ChangeEdge{0, {reader, author, live, unix_us}}).forward;
    if (!changed.changed) return;
    ++(live ? counts.follows : counts.unfollows);
    Trace(ToString(reader) + (live ? " follows " : " unfollows ") + ToString(author));
    if (!character.inline_too) return;
    Later("reverse row inline", 0, [this, edge = changed.edge] {
      const Shard shard = shards.ShardOf(edge.dst);
      if (!Away(shard)) mysql.relations.Do(ApplyEdges{0, shard, {edge}});
    });
  }
};

}  // namespace fanline::sim
