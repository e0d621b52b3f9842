// Reads one page of a home timeline: from the live timeline down to its floor, from the truth below
// it; from the truth alone when the timeline is not live. Posts that are merged at read stand in no
// live timeline. It marks their authors instead, whose posts down to the floor are pulled.
//
// A query names places in the one order (fanline/model/item.h), never a number of items to skip. A
// place is where an item is or was: deleting the item, trimming, a rebuild or the loss of Redis
// changes nothing about what comes behind it. So a walk from page to page shows nothing twice and
// leaves out nothing that did not move meanwhile.
//
// Posts of authors whom the reader mutes are left out. A live timeline says whether there are any,
// and their version; the caller knows the authors, or reads them. Where the page is pulled, they
// come with whom the reader follows. A page still holds as many items as were asked for if there
// are as many: a live timeline is read on, a few pages and then to its end, and authors who are
// muted are not pulled.
//
// Reposts are folded and filtered (timeline/fold.h): the page asks for the states of the originals
// among what it read, and reads on until it holds as many items as were asked for, in a bounded
// number of reads. A live timeline may hold hundreds of reposts of a few originals, or of some that
// are gone. A page that shows a fifth of what it read of one, or less, ends there. Behind a cursor
// it must know what stands in front: a live timeline answers that with its items, a caller that
// gives what is merged at read says it too, and for all else a search by originals and reposters is
// needed (NeedSources).
//
// Passive: needed() says which read comes next, On...() takes its answer. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/model/mutes.h"
#include "fanline/ports/reader_ports.h"
#include "timeline/fold.h"
#include "timeline/pull.h"

namespace fanline::timeline {

// Items between two places, newest first.
struct PageQuery {
  uint32_t limit = 0;                       // at least 1
  std::optional<Position> older_than = {};  // behind this place; none: from the newest
  std::optional<Position> newer_than = {};  // before this place; none: to the very first post
  Reposts reposts = Reposts::kMerge;
};

struct Page : Folded {
  std::optional<Position> next;  // pass as `older_than` for the next page; none: that was all
  // The state of the timeline in Redis; kNotLive also if Redis did not answer.
  TimelineState timeline = TimelineState::kNotLive;
  size_t cached = 0;           // how many of the items lie above the floor of a live timeline
  bool incomplete = false;     // posts merged at read, or reposts, may be missing
  bool mutes_unknown = false;  // posts of authors whom the reader mutes may be among the items
  UnixMs as_of = 0;  // a live timeline holds all that was to be pushed by then; 0: not known

  bool live() const { return timeline == TimelineState::kReady; }
};

// Reads of one kind for one page; it ends early then.
inline constexpr int kMostReads = 6;
// Items that a read is for, by the number of reads before it: a few pages at first, for Redis
// spends ten times as long on all of a timeline; then more than most timelines hold.
inline uint32_t RefillOf(int reads, uint32_t limit) {
  constexpr uint32_t kFirst = 4, kAll = 512;
  if (reads == 0) return limit + 1;
  return reads > 1 ? kAll : std::min(kFirst * (limit + 1), kAll);
}

struct NeedTimeline {
  std::optional<Position> after;
  uint32_t limit = 0;
  bool in_front = false;  // and the items in front of that place
};
struct NeedMutes {
  uint64_t version = 0;  // that is named; the row may have another by now
};
struct NeedOriginals {
  std::vector<Original> originals;
};
// Which of the originals somebody of `by` reposted visibly, at the place or in front of it.
struct NeedSources {
  std::vector<Original> originals;
  std::vector<UserId> by;
  Position in_front_of;
};
using PageNeed = std::variant<NeedTimeline, NeedMutes, NeedOriginals, NeedSources, NeedFollowees,
                              NeedLastAt, NeedItems, NothingNeeded>;

// What a page of a live timeline needs of authors whose posts are merged at read: their newest
// `want` posts behind one place and before another.
struct Beside {
  std::vector<UserId> authors;
  std::optional<Position> after, until;
  uint32_t want = 0;
  std::optional<Position> in_front_of = {};  // and all at this place and in front of it
};

class PageRead {
 public:
  // `own`: the reader, if home timelines hold the reader's own posts.
  PageRead(const PageQuery& query, std::optional<UserId> own, const MutationSwitches& guards = {})
      : query_(query),
        own_(guards.pulls_own ? own : std::nullopt),
        leaves_out_muted_(guards.pages_mute),
        fold_(query.reposts) {}

  PageNeed needed() const;
  void OnTimeline(LivePage cached);
  void OnNoTimeline();  // Redis did not answer: the page is pulled
  // `known`: those that NeedMutes asked for, or an earlier version if they cannot be read.
  void OnMutes(std::shared_ptr<const Mutes> known, bool mutes_unknown = false);
  // In the order of the need; nothing: nobody knows.
  void OnOriginals(const std::vector<std::optional<PostState>>& states);
  // Those that have one. `incomplete`: others may have one, too.
  void OnSources(const std::vector<Original>& in_front, bool incomplete = false);
  void OnFollowees(std::vector<UserId> authors, const Mutes& mutes,
                   const std::vector<UserId>& no_reposts = {});
  void OnLastAt(std::vector<AuthorLastAt> authors);
  void OnItems(ItemsRead read);

  // The posts that a caller may give by OnBeside, newest first, instead of carrying out reads;
  // until the first read is answered. Null: none, or the timeline cannot name all authors.
  const Beside* beside() const { return wanted_ && Settled() ? &*wanted_ : nullptr; }
  // `incomplete`: some may be missing.
  void OnBeside(std::vector<Item> items, bool incomplete = false, std::vector<Item> in_front = {});

  // Nothing more is needed.
  bool done() const { return stage_ == Stage::kDone; }
  // A live timeline's items are to be merged with others, which are read next.
  bool merges() const { return stage_ == Stage::kBeside; }
  // Its first items, or all, came from the live timeline.
  bool live() const { return page_.live(); }
  Page Take();

 private:
  enum class Stage { kTimeline, kBeside, kBelow, kDone };

  bool IsMuted(UserId author) const { return muted_ && muted_->Has(author); }
  // What was read so far is known to be shown, or not.
  bool Settled() const { return !want_mutes_ && want_originals_.empty() && !want_sources_; }
  // Items, or one more than are wanted.
  size_t Held() const { return fold_.Count(query_.limit + 1); }
  bool LooksInFront() const;  // of the cursor
  bool IsAboveFloor() const;  // the cursor
  bool ShowsLittle() const;   // of what it read of the live timeline
  void Advance();
  bool Step();  // whether anything changed without a read
  void TakeItems(const LivePage& live);
  bool GoOnLive();
  void BeginBeside(const std::optional<Position>& from);
  void TakeBeside(const std::vector<Item>& items);
  bool GoOnBeside();
  void TakeLive();
  void PullTheRest();
  void GoOn();  // after a pull's read
  void TakePulled();
  bool GoOnBelow();
  void EndAt(const Position& place);
  void CheckBy(std::vector<UserId> authors, const std::vector<UserId>& no_reposts);
  void SearchInFront();
  Pull& pull() { return stage_ == Stage::kBeside ? *beside_ : *pull_; }

  PageQuery query_;
  std::optional<UserId> own_;
  bool leaves_out_muted_;
  Stage stage_ = Stage::kTimeline;
  bool asked_ = false;                  // the live timeline
  std::optional<uint64_t> want_mutes_;  // a version
  std::shared_ptr<const Mutes> muted_;  // null: nobody, or not known
  std::vector<Original> want_originals_;
  std::optional<NeedSources> want_sources_;
  // Whose sources in front of the cursor nobody has told; and of these, whose reposts count.
  std::vector<UserId> check_by_, reposters_;
  Fold fold_;            // of all that was read
  int reads_ = 0;        // of what is read now: the live timeline, or what is below it
  bool awaits_ = false;  // one is under way: of what is merged at read, or below

  std::optional<LivePage> held_;       // as it was read first; waits for the mutes
  Marks marks_;                        // of the live timeline
  std::optional<Position> looked_at_;  // the last item of the live timeline that was read
  bool live_ended_ = false;            // all that is needed of it was read
  Floor floor_ = kNoFloor;             // of the live timeline

  std::optional<Beside> wanted_;
  std::optional<Pull> beside_;  // what is merged into the live timeline's items
  std::optional<Position> beside_until_;
  bool beside_whole_ = false;             // that is as far as the live timeline goes
  std::optional<Position> beside_ended_;  // there may be more of it behind this place
  std::optional<Position> beside_from_;   // it was read down to here
  int beside_reads_ = 0;

  std::optional<Pull> pull_;         // what is below the floor, or everything
  bool more_ = false;                // there are more items behind those held
  std::optional<Position> ends_at_;  // the page ends here, wherever its last item stands
  Page page_;
};

}  // namespace fanline::timeline
