// The clients' actions: they publish, change posts, follow and unfollow, make and end friendships.
// Their record is the model with which every timeline and every edge is compared.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "fanline/wire/event_codec.h"
#include "tests/sim/friends.h"
#include "tests/sim/relation_event_consumers.h"

namespace fanline::sim {

struct Clients {
  World& world;
  Application& application;
  Friends friends{world};

  static constexpr uint64_t kFirstPost = 1'000;

  // What the clients did.
  std::map<PostId, UserId> author_of{};
  UnixMs last_created = World::kEpoch;
  std::vector<FeedEvent> events{};
  std::map<PostId, uint64_t> versions{};
  std::map<UserId, bool> set_by_hand{};  // to pull, or to push
  // Draws which posts are reposts, so that schedules keep their other draws.
  std::mt19937_64 reposting{world.options.seed ^ 0x94d049bb133111eb};

  void Emit(const FeedEvent& event) {
    events.push_back(event);
    const int copies = world.Strikes(15) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      // Producers retry and are slow: events arrive in any order.
      world.Later("event", [this, event] {
        world.Append(world.feed, world.PickInt(kFeedPartitions), EncodeEventJson(event));
      });
    }
  }

  void Act() {
    const Character& of = world.character;
    switch (world.Draw({of.publish, of.change, of.follow, of.befriend, of.relation_event, of.import,
                        of.choose, of.switch_mode})) {
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
      case 4: {
        const bool unusable = world.Chance(10);
        const EdgeKey edge{world.AnyReader(), world.AnyAuthor()};
        unusable ? application.EmitUnusable(edge) : application.EmitRelation(edge);
        return;
      }
      case 5:
        Import({world.AnyReader(), world.AnyAuthor()});
        return;
      case 6:
        Choose({world.AnyReader(), world.AnyAuthor()}, world.AnyDelivery());
        return;
      default:
        if (world.character.pull_above > 0 && world.Chance(60)) {
          LeaveMode(world.AnyAuthor());
        } else {
          SwitchMode(world.AnyAuthor(), world.Chance(60));
        }
    }
  }

  // Like feedctl author mode.
  void SwitchMode(UserId author, bool pull) {
    if (world.Away(world.shards.ShardOf(author))) return;
    world.Trace("new posts of " + ToString(author) +
                (pull ? " are merged at read" : " are pushed"));
    world.mysql.SetMode(author, pull);
    set_by_hand[author] = pull;
  }
  void LeaveMode(UserId author) {
    if (world.Away(world.shards.ShardOf(author))) return;
    world.Trace(ToString(author) + " is switched by itself");
    world.mysql.LeaveMode(author);
    set_by_hand.erase(author);
  }

  void FollowAny() {
    if (world.character.own_posts && world.Chance(30)) {
      const UserId reader = world.AnyAuthor(), author = world.AnyAuthor();
      if (reader != author) return Follow(reader, author, world.Chance(60));
    }
    if (world.character.befriend > 0 && world.Chance(30))
      return Follow(world.AnyAuthor(), world.AnyReader(), world.Chance(60));
    Follow(world.AnyReader(), world.AnyAuthor(), world.Chance(60));
  }

  void BefriendAny() {
    UserId who = world.AnyReader(), whom = world.AnyAuthor();
    if (world.Chance(50)) std::swap(who, whom);
    constexpr FriendAction kActions[] = {FriendAction::kRequest, FriendAction::kAccept,
                                         FriendAction::kRemove, FriendAction::kRefuse,
                                         FriendAction::kCancel};
    friends.Befriend(kActions[world.Draw({8, 6, 6, 1, 1})], who, whom);
  }

  PostId AnyPost() {
    const uint64_t known = author_of.size();
    const uint64_t among =
        world.Chance(world.character.recent) ? std::min<uint64_t>(known, 3) : known;
    return PostId{kFirstPost + known - 1 - world.Pick(among)};
  }

  void Publish() {
    if (author_of.size() >= world.character.posts) return;
    const UserId author = world.AnyAuthor();
    // Some posts come late, and some have equal times.
    const bool late = world.Chance(world.character.late);
    UnixMs created = world.now.unix_ms - world.PickInt(late ? 1'000 : 3);
    if (world.Chance(10)) created = last_created;
    last_created = created;
    const PostId post = Post(author, created);
    // The application publishes the post again with another time, and the first publish to arrive
    // wins. If rows can be lost this is left out: the other publish could win later, while
    // timelines hold the lost time.
    if (!world.Chance(5) || world.character.odd.lose_rows > 0) return;
    Emit({EventKind::kPublished, post, author, created + 1 + world.PickInt(50), 0});
  }

  PostId Post(UserId author, UnixMs created) {
    const PostId post{kFirstPost + author_of.size()};
    const Original original = DrawOriginal();
    author_of[post] = author;
    world.Trace(ToString(author) + " publishes " + ToString(post) +
                (original ? ", a repost of " + ToString(original.post) : ""));
    Emit({EventKind::kPublished, post, author, created, 0, original});
    return post;
  }

  Original DrawOriginal() {
    if (author_of.empty() || reposting() % 4 != 0) return {};
    const auto known =
        std::next(author_of.begin(), static_cast<std::ptrdiff_t>(reposting() % author_of.size()));
    world.Count(Letter::kReposted);
    return {known->first, known->second};
  }

  void ChangePost(PostId post) {
    const UserId author = author_of.at(post);
    switch (world.Pick(4)) {
      case 0:
        Emit({EventKind::kDeleted, post, author, 0, 0});
        ++world.counts.deleted;
        return;
      case 1:
      case 2:
        Emit({world.Chance(50) ? EventKind::kHidden : EventKind::kUnhidden, post, author, 0,
              ++versions[post]});
        ++world.counts.hidden;
        return;
      default:
        Emit({EventKind::kEdited, post, author, 0, ++versions[post]});
    }
  }

  // Loads both rows of an edge that has none, bypassing log1 and the mirrors. An import that is
  // killed before its hints are acknowledged is run again.
  void Import(const EdgeKey& edge) {
    if (world.AnyAway() || world.mysql.relations.forward().contains(edge)) return;
    world.Count(Letter::kImported);
    world.Trace("import of " + ToString(edge.src) + " and " + ToString(edge.dst));
    world.said.AtOnce(edge, true);
    world.mysql.relations.Import(edge);
    if (!world.options.guards.imports_hint) return;
    world.Later("hint of an import", [this, edge] {
      world.AppendHint(RangeLayout(kRanges).RangeOf(edge.src), Hint::OfSync(edge.src, edge.dst));
    });
  }

  // Writes the forward row and its row of log1 in one transaction. The mirrors do the rest. It may
  // commit behind others that got their ids later, unless its shard fails over before that.
  void Follow(UserId reader, UserId author, bool live) {
    const int late = world.character.odd.late_commit;
    if (late == 0 || !world.Strikes(late)) return FollowNow(reader, author, live);
    const Shard shard = world.shards.ShardOf(reader);
    const uint64_t row = world.mysql.relations.ReserveRow(shard);
    world.Later("late commit",
                [this, reader, author, live, shard, row, failovers = world.failovers[shard]] {
                  if (world.failovers[shard] != failovers) return;
                  world.Count(Letter::kLateCommit);
                  world.mysql.relations.next_row = row;
                  FollowNow(reader, author, live);
                  world.mysql.relations.next_row = 0;
                });
  }

  void FollowNow(UserId reader, UserId author, bool live) {
    if (world.Away(world.shards.ShardOf(reader))) return;  // refused
    world.said.AtOnce({reader, author}, live);
    if (world.mysql.relations.AwaitsFriendship({reader, author}))
      world.Count(Letter::kFriendshipSettled);
    if (!Change({.src = reader, .dst = author, .live = live})) return;
    world.counts.unfollows += !live;
    world.Trace(ToString(reader) + (live ? " follows " : " unfollows ") + ToString(author));
  }

  void Choose(const EdgeKey& edge, Delivery delivery) {
    if (world.Away(world.shards.ShardOf(edge.src))) return;  // refused
    if (world.mysql.relations.Live(edge)) world.said.Chose(edge, delivery);
    const bool changed =
        Change({.src = edge.src, .dst = edge.dst, .live = true, .delivery = delivery});
    if (!changed) return;
    world.Count(Letter::kChosen);
    world.Trace(ToString(edge.src) + " wants " + NameOf(delivery) + " of " + ToString(edge.dst));
  }

  // Whether it changed the row.
  bool Change(EdgeChange change) {
    change.unix_us = static_cast<uint64_t>(world.now.unix_ms) * 1000;
    const auto changed = world.mysql.relations.Do(ChangeEdge{0, change}).forward;
    if (!changed.changed) return false;
    InlineToo(changed.edge);
    return true;
  }

  void InlineToo(const Edge& edge) {
    if (!world.character.inline_too) return;
    world.Later("reverse row inline", [this, edge] {
      const Shard shard = world.shards.ShardOf(edge.dst);
      if (!world.Away(shard)) world.mysql.relations.Do(ApplyEdges{0, shard, {edge}});
    });
  }
};

// Readers who mute authors and unmute them, from two devices. A device that has seen an older list
// changes nothing when it says so.
//
// They draw from a sequence of their own, so schedules without them keep their draws.
struct Mutings {
  explicit Mutings(World& of) : world(of), random(of.options.seed ^ 0xbf58476d1ce4e5b9) {}

  World& world;
  std::mt19937_64 random;
  // What each device of a reader saw last.
  std::map<UserId, std::array<Mutes, 2>> seen{};

  // Called after each event of the schedule.
  void Step() {
    if (random() % 100 >= world.character.mute) return;
    const UserId reader{1 + random() % world.character.readers};
    const UserId author{World::kFirstAuthor + random() % world.character.authors};
    if (world.Away(world.shards.ShardOf(reader))) return;
    Mutes& device = seen[reader][random() % 2];
    ChangeMutes change{.user = reader,
                       .authors = {author},
                       .unix_us = static_cast<uint64_t>(world.now.unix_ms) * 1000};
    if (random() % 2 == 0) change.what = ChangeMutes::What::kUnmute;
    if (random() % 3 == 0) change.expected = device.version;
    const MutesChanged changed = world.mysql.relations.Do(change);
    if (changed.changed) {
      world.Count(Letter::kMuted);
      world.Trace(ToString(reader) + " mutes " + std::to_string(changed.now.authors.size()));
    }
    if (changed.changed && change.expected &&
        changed.now.authors != After(device, change).authors) {
      world.trouble = "a device changed a list of mutes that it had not seen";
    }
    device = changed.now;
  }
};

}  // namespace fanline::sim
