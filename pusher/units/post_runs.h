// Runs of the units of post hints that are under way. A run asks for the states of its posts, for
// the first page of the author's followers and for news of who is live (audience.h) at the same
// time. It then writes page after page to the timelines of those followers who may be live.
//
// If the author's followers are listed (follower_lists.h), a page holds the next of those who are
// known to be live. A run takes it while it asks for news, and once more if these say anything. As
// long as it has nobody on its page, it asks for news alone. If nobody comes by the news either, it
// is done. Else it needs the states of its posts. A run that reads its pages fills the author's
// list.
//
// Runs ask for their states together. A shard has one request under way; the runs that need states
// meanwhile share the next one. An author's ranges begin together (Units::StartOne), so a post is
// read once for all of them. A unit that is alone has a request of its own: if the answer is
// `never`, it is its fault.
//
// A post that is visible and pushed is added; any other is removed.
// Followers who want no reposts of the author are not given any; removals are for all.
// A post that is merged at read is removed and marks its author in the timelines. If home timelines
// hold the reader's own posts, the author is the first reader of the first page, in the range of
// the author's own bucket (docs/decisions/0028-ones-own-posts.md).
//
// A unit whose first page has another one behind it is large. It needs a wide credit (admission.h)
// to write a page. If it gets none, it gives the page back and reads it again in its turn.
//
// A page is done when Redis has acknowledged all its writes. After a failure the same page is read
// and written again. The states are not read again: a state that changed since has a hint behind
// this one. If nobody can read that hint, the unit begins anew (Outdate). A post that is to be
// measured is measured when its last page is done (measured_deliveries.h).
//
// A unit of several pages is begun work, which is saved in pos: (BegunHints). The range's next
// owner reads the states again and goes on behind the finished pages. No reader is left out: every
// page was written after the hints were in the log. A post or an edge that changed since has a
// later hint, and a timeline that became live since has read the posts. If the unit has changed, or
// would do something else with its posts, it begins again at its first page.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "pusher/base/common.h"
#include "pusher/units/admission.h"
#include "pusher/units/audiences.h"
#include "pusher/units/follower_lists.h"
#include "pusher/units/measured_deliveries.h"
#include "pusher/units/unit.h"
#include "pusher/units/write_batcher.h"

namespace fanline::pusher {

class PostRuns {
 public:
  // All outlive this object.
  PostRuns(Common& common, Admission& admission, FollowerLists& lists, Audiences& audiences)
      : common_(common),
        ports_(common.ports),
        guards_(common.setup.guards),
        admission_(admission),
        lists_(lists),
        audiences_(audiences),
        marks_(common),
        weights_(common) {}

  // Reads the first page, the next one, or the one that failed. `unit` must stay where it is until
  // its run has ended: finished, answered `never`, or forgotten.
  void Begin(Unit& unit, Now now);
  // Takes an answer; returns the steps that follow from it.
  std::vector<RunStep> On(const PostStates& states, Now now);
  std::optional<RunStep> On(FollowerPage& page, Now now);
  // News for which the unit waited. It may be a unit of others.
  std::optional<RunStep> OnNews(uint64_t unit, const Status& status, Now now);
  std::vector<RunStep> On(const BatchWritten& written, Now now);
  void On(const PartMarked& marked, Now now) { marks_.On(marked, now); }
  void On(const AuthorWeighed& weighed) { weights_.On(weighed); }
  // Asks for the states that runs wait for.
  void AskForStates();
  // Sends the writes that wait, as far as each node of Redis may have batches under way.
  void SendBatches();
  // Forget what a range that was lost has begun, and its units. Their writes may still arrive in
  // Redis, which refuses them by their epoch.
  void ForgetRange(Range range);
  void ForgetUnit(uint64_t unit) { runs_.erase(unit); }
  // What the unit's run has read may be out of date, with no hint behind it. The next page, or the
  // next attempt, begins anew.
  void Outdate(uint64_t unit);

  // The work that is begun in the range, by the offset of its first hint: of units under way, and
  // of earlier owners as far as it is not taken up yet.
  const std::map<int64_t, BegunHints>& begun(Range range) const;
  // The range was taken over with this begun work.
  void TakeOver(Range range, const std::vector<BegunHints>& begun);

 private:
  struct Run {
    Unit* unit = nullptr;
    std::vector<PostId> posts;  // distinct, as asked from the truth
    std::vector<Item> adds;
    std::vector<Item> removes;
    bool marks = false;  // the author
    bool states_read = false;
    bool outdated = false;
    Time since{};                             // when it was begun
    bool listed = false;                      // this page is taken from the author's list
    uint64_t heard = 0;                       // Audience::heard, when it was taken
    uint64_t passed_over = 0;                 // followers, when it was taken
    bool page_read = false;                   // or taken after the news
    uint64_t list = 0;                        // that it fills; 0: none
    std::optional<FollowerCursor> list_from;  // where the next page for that list begins
    uint64_t content = 0;                     // BegunHints::content, once the states are read
    std::optional<FollowerCursor> page_from;  // where the current page begins
    std::optional<FollowerCursor> read_from;  // where the page begins that was asked for last
    FollowerPage page;                        // the one that was read last
    uint32_t page_limit = 0;                  // most followers on it
    size_t reads_open = 0;                    // reads not yet answered
    size_t writes_open = 0;                   // timelines of this page not yet acknowledged
    bool delivered = false;                   // to at least one live timeline
    uint64_t live = 0;       // followers' live timelines that its finished pages met
    uint64_t page_live = 0;  // those that this page has met so far
    bool whole = true;       // it began at its first page
    Status trouble;          // a failure among this page's reads or batches
  };
  struct Writes {  // to one range
    Writes(const Limits& limits, size_t& waiting_readers, const Unit& unit)
        : batcher(limits, waiting_readers), epoch(unit.epoch), node(unit.way.node) {}
    WriteBatcher batcher;
    const uint64_t epoch;
    const uint32_t node;
  };
  struct Sent {  // a batch under way
    uint32_t node = 0;
    Range range = 0;
    uint64_t epoch = 0;
    uint64_t heard = 0;  // Audience::heard, when it was sent
    std::vector<Share> shares;
    std::vector<UserId> readers;  // of each write
  };

  Run* Find(uint64_t unit);
  void ReadStates(Run& run);
  void Ask(std::optional<Shard> shard, const std::vector<uint64_t>& units);
  void ReadPage(Run& run);
  std::optional<RunStep> LookUp(Run& run, Now now);
  bool HasNews(const Run& run) const;
  void TakeFromList(Run& run, const FollowerLists::Followers& list);
  bool IsMeasured(const Run& run) const;
  void FillList(Run& run);
  std::optional<RunStep> Answered(Run& run, const Status& status, Now now);
  bool MayWrite(Unit& unit);
  std::optional<RunStep> Write(Run& run, Now now);
  void AddAuthor(const Run& run, std::vector<UserId>& readers) const;
  void LeaveOutTheDead(const Run& run, std::vector<UserId>& readers) const;
  static std::vector<UserId> TakeApart(Run& run, std::vector<UserId>& readers);
  static void Add(Writes& writes, const Run& run, std::vector<UserId> readers, bool no_reposts);
  void TakeDead(const Sent& sent, const BatchWritten& written);
  struct Asked {                 // for states
    std::optional<Shard> shard;  // whose next request waits for this one
    std::vector<uint64_t> units;
    std::vector<PostKey> posts;  // sorted
  };
  void TakeStates(Run& run, const Asked& asked, const PostStates& states);
  bool GoesOn(Run& run);
  void Pass(const Run& run);
  void End(const Run& run);
  void Send(Range range, Writes& writes);
  RunStep PageDone(Run& run, Now now);
  RunStep Failed(Run& run, const Status& status);
  void MarkParts(const Run& run);

  Common& common_;
  const Ports& ports_;
  const MutationSwitches& guards_;
  Admission& admission_;
  FollowerLists& lists_;
  Audiences& audiences_;
  DeliveryMarks marks_;
  AuthorWeights weights_;
  std::unordered_map<uint64_t, Run> runs_;  // by unit
  std::map<Range, std::map<int64_t, BegunHints>> begun_;
  struct AtShard {
    std::vector<uint64_t> waiting;  // units that need states
    bool asked = false;             // a request is under way
  };
  std::map<Shard, AtShard> shards_;
  std::unordered_map<uint64_t, Asked> states_;  // asked for, by request
  std::map<Range, Writes> writes_;
  Range last_sent_ = -1;                        // round robin over ranges
  std::unordered_map<uint64_t, Sent> batches_;  // under way, by request
};

}  // namespace fanline::pusher
