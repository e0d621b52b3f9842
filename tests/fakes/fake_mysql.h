// The rows of schemas/sql as a small in-memory model. Answers each request of truth.h,
// post_store.h, range_owners.h and reader_ports.h at once, as MariaDB would. fake_relations.h holds
// who follows whom. The sticky rules of a post's row can be switched off (Rules) for the mutation
// checks.
// tests/integration/mysql/model compares it with MariaDB. Left out: requests that cannot be stored,
// drifted counters, and the limit of starts kept for a range whose owners keep crashing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/model/bucket.h"
#include "fanline/model/post_state.h"
#include "fanline/ports/post_store.h"
#include "fanline/ports/range_owners.h"
#include "fanline/ports/reader_ports.h"
#include "fanline/ports/reposts.h"
#include "fanline/ports/truth.h"
#include "tests/fakes/fake_relations.h"

namespace fanline::fakes {

struct MysqlRules {
  bool sticky_tombstones = true;     // a delete of an unknown post leaves a tombstone
  bool versions = true;              // hide and unhide: higher wins, not later
  bool hint_on_every_apply = true;   // off: an event that changed nothing emits no hints
  bool last_at_grows = true;         // off: the latest event's time, not the newest
  bool counters_only_choose = true;  // off: followers are not read if the counter is 0
  bool met_limit_is_all = true;      // off: followers cut by the limit count as all of them
  bool marked_for_good = true;       // off: an author who is pushed again is not marked any more
  bool marks_synced = true;          // off: a sync reports no marked author
  bool pushed_once = true;           // off: the present mode decides, not the row's
  bool switch_of_version = true;     // off: a switch takes effect however late it comes
  bool switches_mark = true;         // off: an author switched by itself is not marked
  bool muted_not_pushed = true;  // off: pages of followers hold those whose follow brings nothing
  bool muted_not_synced = true;  // off: a sync takes them for others
  bool muted_not_read = true;    // off: rebuilds and pulled pages do
  bool original_once = true;     // off: of two events that publish a post the later says of what
  bool no_reposts_not_pushed = true;  // off: pages of followers do not say who wants no reposts
  bool no_reposts_not_synced = true;  // off: nor does a sync care
  bool no_reposts_read = true;        // off: nor are rebuilds and pulled pages told
};

class FakeMysql {
 public:
  FakeMysql(RangeLayout layout, uint32_t page_limit, const ShardMap& shards = ShardMap::Even(1))
      : relations(shards), layout_(layout), page_limit_(page_limit), shards_(shards) {}
  MysqlRules rules;
  FakeRelations relations;

  EventsApplied Do(const ApplyEvents& request);
  // Its two halves: the transaction and the counters; then the followers of authors worth reading,
  // from `reverse`.
  EventsApplied Commit(const ApplyEvents& request);
  void ReadFollowers(const ApplyEvents& request, const FakeRelations::Edges& reverse,
                     EventsApplied& applied) const;
  ShownRead Do(const ReadShown& request) const;
  PostStates Do(const ReadPostStates& request) const;
  FollowerPage Do(const ReadFollowerPage& request) const;
  SyncTruth Do(const ReadSync& request) const;
  MutesRead Do(const ReadMutes& request) const;
  RangeOwned Do(const AcquireRange& request);
  RangeOwned Do(const RaiseEpoch& request);
  void LoseOwner(Range range) { owners_.erase(range); }  // its row, by a restore
  RangeOwned Do(const SaveStart& request);
  RangeOwned Do(const SettleRange& request);

  // For tests without a mirror: the forward row, which gives the version, and the guarded apply.
  uint64_t WriteForward(UserId src, UserId dst, bool live);  // 0: nothing changed
  void ApplyReverse(UserId src, UserId dst, uint64_t version, bool live);

  std::vector<UserId> Followees(UserId reader) const;
  std::vector<UserId> NoReposts(UserId reader) const;  // of these, ascending
  std::vector<AuthorLastAt> LastAt(const std::vector<UserId>& authors) const;
  ItemsRead Items(const std::vector<PostsOf>& posts, const TimeSpan& span, uint32_t limit) const;
  std::vector<Item> Outbox(UserId author, const TimeSpan& span, uint32_t limit) const;
  UserFacts LookUp(UserId user) const;
  RepostersRead Do(const ReadReposters& request) const;
  RepostsByRead Do(const ReadRepostsBy& request) const;
  std::vector<std::optional<PostState>> Originals(const std::vector<Original>& originals) const;
  std::vector<Original> Sources(const FindSources& request) const;

  // How new posts of the author reach timelines, as feedctl author mode sets it.
  void SetMode(UserId author, bool pull);
  void LeaveMode(UserId author);
  AuthorMode ModeOf(UserId author) const;
  AuthorAnnounced Do(const AnnounceAuthor& request);
  AuthorSwitched Do(const SwitchAuthor& request);
  AuthorWeighed Do(const WeighAuthor& request);
  bool IsMarked(UserId author) const;
  // As if the row had been made in another mode of its author.
  void SetPushed(UserId author, PostId post, bool pushed) {
    posts_[{author, post}].pushed = pushed;
    if (!pushed) modes_[author].marked = true;
  }

  // A failover to a replica that lags: posts of the shard's authors are as in `replica`.
  void LosePosts(Shard shard, const FakeMysql& replica);

  const std::map<PostKey, PostState>& posts() const { return posts_; }

 private:
  struct Start {
    uint64_t epoch = 0;
    int64_t hint = -1;
  };
  struct Owner {
    uint64_t epoch = 0;
    std::map<uint64_t, Start> starts{};  // by token
  };

  bool Apply(const FeedEvent& event);
  std::optional<std::vector<Bucket>> FollowerBuckets(UserId author, uint32_t most,
                                                     const FakeRelations::Edges& reverse) const;
  std::vector<Item> Visible(const PostsOf& posts) const;

  RangeLayout layout_;
  uint32_t page_limit_;  // smaller than asked for: makes every list walk its pages
  ShardMap shards_;
  std::map<PostKey, PostState> posts_;
  std::map<UserId, UnixMs> last_at_;
  struct Mode {
    bool pull = false, marked = false, by_hand = false;
    std::optional<UnixMs> announced{};
    uint64_t version = 0;
    UnixMs since = 0;
    AuthorWeight weight{};
    std::optional<UnixMs> weighed{};
  };
  void Switch(UserId author, bool pull);
  std::map<UserId, Mode> modes_;
  static RangeOwned Found(Owner& owner, uint64_t id, uint64_t start);
  std::map<Range, Owner> owners_;
};

}  // namespace fanline::fakes
