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
// Passive: needed() says which read comes next, On...() takes its answer. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/model/mutes.h"
#include "fanline/ports/reader_ports.h"
#include "timeline/pull.h"

namespace fanline::timeline {

// Items between two places, newest first.
struct PageQuery {
  uint32_t limit = 0;                       // at least 1
  std::optional<Position> older_than = {};  // behind this place; none: from the newest
  std::optional<Position> newer_than = {};  // before this place; none: to the very first post
};

struct Page {
  std::vector<Item> items;       // newest first
  std::optional<Position> next;  // pass as `older_than` for the next page; none: that was all
  // The state of the timeline in Redis; kNotLive also if Redis did not answer.
  TimelineState timeline = TimelineState::kNotLive;
  size_t cached = 0;           // how many of the items lie above the floor of a live timeline
  bool incomplete = false;     // posts that are merged at read may be missing
  bool mutes_unknown = false;  // posts of authors whom the reader mutes may be among the items
  UnixMs as_of = 0;  // a live timeline holds all that was to be pushed by then; 0: not known

  bool live() const { return timeline == TimelineState::kReady; }
};

struct NeedTimeline {
  std::optional<Position> after;
  uint32_t limit = 0;
};
struct NeedMutes {
  uint64_t version = 0;  // that is named; the row may have another by now
};
using PageNeed =
    std::variant<NeedTimeline, NeedMutes, NeedFollowees, NeedLastAt, NeedItems, NothingNeeded>;

// What a page of a live timeline needs of authors whose posts are merged at read: their newest
// `want` posts behind one place and before another.
struct Beside {
  std::vector<UserId> authors;
  std::optional<Position> after, until;
  uint32_t want = 0;
};

class PageRead {
 public:
  // `own`: the reader, if home timelines hold the reader's own posts.
  PageRead(const PageQuery& query, std::optional<UserId> own, const MutationSwitches& guards = {})
      : query_(query),
        own_(guards.pulls_own ? own : std::nullopt),
        leaves_out_muted_(guards.pages_mute) {}

  PageNeed needed() const;
  void OnTimeline(LivePage cached);
  void OnNoTimeline();  // Redis did not answer: the page is pulled
  // `known`: those that NeedMutes asked for, or an earlier version if they cannot be read.
  void OnMutes(std::shared_ptr<const Mutes> known, bool mutes_unknown = false);
  void OnFollowees(std::vector<UserId> authors, const Mutes& mutes,
                   const std::vector<UserId>& no_reposts = {});
  void OnLastAt(std::vector<AuthorLastAt> authors);
  void OnItems(ItemsRead read);

  // The posts that a caller may give by OnBeside, newest first, instead of carrying out reads;
  // until the first read is answered. Null: none, or the timeline cannot name all authors.
  const Beside* beside() const { return wanted_ ? &*wanted_ : nullptr; }
  // `incomplete`: some may be missing.
  void OnBeside(std::vector<Item> items, bool incomplete = false);

  // Nothing more is needed.
  bool done() const { return asked_ && !held_ && !beside_ && (!pull_ || pull_->done()); }
  // A live timeline's items are to be merged with others, which are read next.
  bool merges() const { return beside_.has_value(); }
  // Its first items, or all, came from the live timeline.
  bool live() const { return page_.live(); }
  Page Take();

 private:
  bool IsMuted(UserId author) const { return muted_ && muted_->Has(author); }
  void TakeItems(LivePage live);
  void GoLive();
  void PullBeside(const Marks& marks);
  void GoOn();
  void Merge(const std::vector<Item>& beside);
  void TakeLive();
  void PullTheRest();
  Pull& pull() { return beside_ ? *beside_ : *pull_; }

  PageQuery query_;
  std::optional<UserId> own_;
  bool leaves_out_muted_;
  std::optional<uint64_t> want_mutes_;  // a version
  std::shared_ptr<const Mutes> muted_;  // null: nobody, or not known
  std::optional<LivePage> held_;        // as far as it was read; waits for them, or for more
  bool refilled_ = false;               // a little was not enough: the rest is read
  std::optional<Position> looked_at_;   // the last item of the live timeline that was read
  bool asked_ = false;                  // the live timeline
  bool more_ = false;                   // items of it, or of those merged into it
  Floor floor_ = kNoFloor;              // of the live timeline
  std::optional<Beside> wanted_;
  std::optional<Pull> beside_;  // what is merged into the live timeline's items; until it is done
  std::optional<Pull> pull_;    // what is below the floor, or everything
  Page page_;
};

// Cuts items, newest first and at most one beyond `query.limit`, to what was asked for.
Page PageOf(std::vector<Item> items, const PageQuery& query);

}  // namespace fanline::timeline
