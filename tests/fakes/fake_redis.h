// The keys and scripts of schemas/redis as a small in-memory model. Answers each request of the
// ports LiveTimelines and TimelinePort at once, as one Redis would. Copyable, so that a test can
// take a snapshot and roll back. tests/integration/redis/model_test.cpp compares it with the real
// scripts, member by member.
//
// Each rule that carries the design can be switched off (Rules), for the mutation checks: with it
// off, the simulation must fail.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fanline/model/bucket.h"
#include "fanline/ports/live_timelines.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::fakes {

struct RedisRules {
  bool fence = true;                // guard 3: lower epochs are refused
  bool never_create = true;         // a push that meets no key leaves none
  bool raise_floor = true;          // a trim raises the floor
  bool record_removals = true;      // a removal that meets a building key is remembered
  bool sync_drops_building = true;  // a sync that meets a building key deletes it
  bool sync_takes_out = true;       // a sync takes out what the truth does not name
  bool short_rule = true;           // below W/2 with a floor: deleted
  bool hide_building = true;        // a building key is never served
  bool drop_full = true;            // a timeline that cannot take an item is dropped
  bool pending_index = true;        // a takeover's reset ends only on the index it began with
  bool walks_leave_index = true;    // a quarantine's reset leaves marks and numbers of live: alone
  bool loss_before_walk = true;     // a takeover that drops deletes pos: before its walk
  bool keep_marks = true;           // a rebuild keeps the marks that came meanwhile
  bool one_spelling = true;         // a repost that is added takes the place of its other spelling
  bool any_spelling_goes = true;    // a removal takes out a repost however it is spelled
  bool count_more_marks = true;     // marks that do not fit are known to be more
};

class FakeRedis {
 public:
  struct Timeline {
    std::map<PostId, Item> items;
    bool building = false;
    std::string token;              // while building
    std::set<std::string> removed;  // while building, as MemberText::OfRemoved names them
    std::set<Mark> marks;
    bool more_marks = false;     // than there is room for
    uint64_t mutes = 0;          // their version, when ready
    std::optional<Floor> floor;  // when ready; kNoFloor = F at +inf
    bool Marks(UserId author) const {
      return marks.contains({author, false}) || marks.contains({author, true});
    }
    friend bool operator==(const Timeline&, const Timeline&) = default;
  };

  FakeRedis(RangeLayout layout, WindowLimits window) : layout_(layout), window_(window) {}
  RedisRules rules;
  // At its maxmemory. Harsher than a real one, which refuses only the first write of a script:
  // every timeline that is to take an item is dropped.
  bool full = false;
  // Posts that some timeline was given in two spellings, and without `one_spelling` would hold
  // twice.
  std::set<PostId> spelled_twice;

  RangeClaimed Do(const ClaimRange& request);
  NewsRead Do(const ReadNews& request);
  RangeReset Do(const ResetRange& request);
  PositionSaved Do(const SavePosition& request);
  BatchWritten Do(const TimelineBatch& request);
  SyncApplied Do(const ApplySync& request);
  MutesSet Do(const SetMutes& request);
  TimelineDropped Do(const DropTimeline& request);
  PartMarked Do(const MarkPart& request);

  // A reset in its steps: begin, pages of the readers that a SCAN finds, end. The call above does
  // them all, with all readers in one page.
  RangeReset ResetBegin(const ResetRange& request);
  RangeReset ResetPage(const ResetRange& request, const std::vector<UserId>& found);
  RangeReset ResetEnd(const ResetRange& request);

  // `generation`: of the tasks topic, as the reading side knows it; none: the one that pos: names.
  RebuildBegun Begin(UserId reader, const std::string& token,
                     std::optional<uint64_t> generation = std::nullopt);
  void Abandon(UserId reader, const std::string& token);
  bool Finish(UserId reader, const std::string& token, const std::vector<Item>& items, Floor floor,
              const std::vector<Mark>& marks = {}, uint64_t mutes = 0);
  LivePage Read(UserId reader, const std::optional<Position>& after, uint32_t limit,
                bool in_front = false);

  // What happens to a Redis.
  void Expire(UserId reader);  // the TTL of the timeline ran out: only its key goes
  void FlushAll();
  // All keys of the range are as they are in `other`.
  void TakeFrom(const FakeRedis& other, Range range);
  void ForgetIndex(Range range);                // live: was deleted by hand
  void Unlist(UserId reader);                   // in live:, unless there is a timeline
  void Number(UserId reader, uint64_t number);  // in live:, where he is listed

  // Looking inside.
  const std::map<UserId, Timeline>& timelines() const { return timelines_; }
  // The zset as Redis has it, in order: (member, score).
  std::vector<std::pair<std::string, double>> Members(UserId reader) const;
  std::map<std::string, int64_t> LiveMembers(Range range) const;  // and their scores
  std::optional<uint64_t> own(Range range) const;
  std::optional<AppliedPosition> position(Range range) const;

 private:
  struct RangeKeys {
    std::map<UserId, uint64_t> live;  // and their numbers
    uint64_t last = 0;                // number given
    uint64_t index = 0;               // epoch of the takeover that completed live:; 0: none did
    bool pending = false;             // a takeover's reset is under way
    void EmptyIndex() {
      live.clear();
      last = index = 0;
      pending = false;
    }
    std::optional<uint64_t> own;
    std::optional<AppliedPosition> position;
  };

  std::optional<Status> Refused(Range range, uint64_t epoch);
  RangeKeys& KeysOf(UserId reader) { return ranges_[layout_.RangeOf(reader)]; }
  // Whether the reset makes live: anew.
  bool MakesIndex(const ResetRange& request) const;
  void Announce(UserId reader);
  void Delete(UserId reader);
  struct Wanted {  // of one write
    std::vector<Item> adds;
    std::vector<Item> removes;
    std::vector<Mark> marks;
    bool adds_any() const { return !adds.empty() || !marks.empty(); }
  };
  int8_t Write(UserId reader, const Wanted& wanted, BatchWritten& totals);
  bool Add(UserId reader, Timeline& timeline, const Wanted& wanted, uint32_t& added,
           uint64_t& trimmed);
  void BoundMarks(Timeline& timeline) const;
  bool Put(Timeline& timeline, const Item& item);
  size_t Keeps(const Timeline& timeline) const;
  bool Names(std::string_view removal, const Item& item) const;
  uint64_t Remove(UserId reader, Timeline& timeline, const std::vector<Item>& removes, bool& gone);
  bool FallsShort(const Timeline& timeline) const;
  bool DropIfShort(UserId reader, const Timeline& timeline);
  void Trim(Timeline& timeline);
  static void CutBehindFloor(Timeline& timeline);
  static std::vector<Item> Sorted(const Timeline& timeline);
  static size_t Card(const Timeline& timeline);
  static size_t MarksOf(const Timeline& timeline) {
    return timeline.marks.size() + timeline.more_marks;
  }
  static size_t InFrontOfHead(const Timeline& timeline) {
    return MarksOf(timeline) + (timeline.mutes == 0 ? 0 : 1);
  }

  RangeLayout layout_;
  WindowLimits window_;
  std::map<UserId, Timeline> timelines_;
  std::map<Range, RangeKeys> ranges_;
  struct Done {
    std::set<uint32_t> ranges;
    bool any = false;
    bool observed = false;
  };
  std::map<PostKey, Done> done_;
};

}  // namespace fanline::fakes
