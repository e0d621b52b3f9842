// Units of post hints that are under way. The states of their posts are read with the first page of
// the author's followers, then page after page is written to the followers' live timelines. A post
// that is not visible, or is merged at read, is removed instead of added; one that is merged at
// read marks its author there. Where home timelines hold one's own posts, the author is the first
// reader of the first page, in the range of the author's own bucket
// (docs/decisions/0028-ones-own-posts.md).
//
// A page is done when Redis has acknowledged all its writes. After a failure the same page is read
// and written again, but the states are not: a state that changed since has a hint behind this one.
// A post is measured when its last page is done, if it is to be (measured_deliveries.h).
//
// A unit of several pages is begun work, which pos: names (BegunHints). The range's next owner
// reads the states again and goes on behind the pages that are done. This skips nobody: every page
// was written after the hints were in the log, and whatever changed since - a post, an edge, a
// timeline that became live - has a later hint, or has read the posts. When the unit is not the
// same any more, or would do something else with its posts, it begins at its first page.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "pusher/limits.h"
#include "pusher/measured_deliveries.h"
#include "pusher/unit.h"
#include "pusher/write_batcher.h"

namespace fanline::pusher {

class PostRuns {
 public:
  // `own_posts`: where authors' own readers are; none: authors are not readers of their posts.
  PostRuns(const RunPorts& ports, const Limits& limits, AuthorWeights::Setup weighed,
           const MutationSwitches& guards, std::optional<RangeLayout> own_posts)
      : ports_(ports),
        limits_(limits),
        guards_(guards),
        own_posts_(own_posts),
        weights_(ports.weights, ports.metrics, std::move(weighed), ports.ids) {}

  // Reads the first page, the next one, or the one that failed, with so many `followers` at most.
  // `unit` must stay where it is until its run has ended: finished, answered `never`, or forgotten.
  void Begin(const Unit& unit, uint32_t followers);
  // Offers an answer; returns the steps that it brings.
  std::optional<RunStep> On(PostPage& page, Now now);
  std::vector<RunStep> On(const BatchWritten& written, Now now);
  void On(const PartMarked& marked, Now now) { marks_.On(marked, now); }
  void On(const AuthorWeighed& weighed) { weights_.On(weighed); }
  // Sends the writes that wait, as far as batches may be under way to each node of Redis.
  void SendBatches();
  // Forgets all units of a range that was lost. Their writes may still arrive in Redis, where the
  // epoch refuses them.
  void Forget(Range range);

  // What an owner has begun in the range, by the offset of its first hint: units that are under
  // way, and what was taken over and is not taken up yet.
  const std::map<int64_t, BegunHints>& begun(Range range) const;
  // The range was taken over with this begun work.
  void TakeOver(Range range, const std::vector<BegunHints>& begun);

  // Followers of first pages whose writes to the node are in no batch yet.
  size_t waiting_readers(uint32_t node) const;

 private:
  struct Run {
    const Unit* unit = nullptr;
    std::vector<PostId> posts;  // distinct, as asked from the truth
    std::vector<Item> adds;
    std::vector<PostId> removes;
    std::optional<UserId> mark;
    bool states_read = false;
    uint64_t content = 0;                     // of BegunHints, once the states are read
    std::optional<FollowerCursor> page_from;  // where the current page began
    std::optional<FollowerCursor> next_page;
    uint32_t page_limit = 0;  // followers on it
    size_t writes_open = 0;   // timelines of this page not yet acknowledged
    bool delivered = false;   // reached at least one live timeline
    uint64_t live = 0;        // followers' timelines that its pages met
    uint64_t page_live = 0;   // and this page, so far
    bool whole = true;        // began at its first page
    Status trouble;           // the first failure among this page's batches
  };
  struct Writes {  // to one range
    explicit Writes(const Limits& limits) : batcher(limits) {}
    WriteBatcher batcher;
    uint64_t epoch = 0;
    uint32_t node = 0;
  };
  struct Sent {  // a batch under way
    uint32_t node = 0;
    std::vector<Share> shares;
    std::vector<UserId> first_readers;  // of each share
  };
  struct AtNode {
    uint32_t batches = 0;        // under way
    size_t waiting_readers = 0;  // of first pages, whose writes are in no batch yet
  };

  void ReadPage(const Run& run);
  void AddAuthor(const Run& run, std::vector<UserId>& readers) const;
  void TakeStates(Run& run, const std::vector<PostState>& states);
  bool GoesOn(Run& run);
  void Pass(const Run& run);
  void End(const Run& run);
  void Send(Range range, Writes& writes);
  RunStep PageDone(Run& run, Now now);
  RunStep Failed(const Run& run, const Status& status);
  void MarkParts(const Run& run);
  void DropIfUnused(uint32_t node);

  const RunPorts ports_;
  const Limits& limits_;
  const MutationSwitches guards_;
  const std::optional<RangeLayout> own_posts_;
  DeliveryMarks marks_{ports_.timelines, ports_.metrics, ports_.ids};
  AuthorWeights weights_;
  std::unordered_map<uint64_t, Run> runs_;  // by unit
  std::map<Range, std::map<int64_t, BegunHints>> begun_;
  std::map<Range, Writes> writes_;
  Range last_sent_ = -1;                        // round robin over ranges
  std::unordered_map<uint64_t, Sent> batches_;  // under way, by request
  std::map<uint32_t, AtNode> nodes_;
};

}  // namespace fanline::pusher
