// Units of post hints that are under way. The states of their posts are read with the first page of
// the author's followers, then page after page is written to the followers' live timelines. A post
// that is not visible, or is merged at read, is removed instead of added.
//
// A page is done when Redis has acknowledged all its writes. After a failure the same page is read
// and written again, but the states are not: a state that changed since has a hint behind this one.
// A sampled post is measured when its last page is done (delivery_marks.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "pusher/delivery_marks.h"
#include "pusher/limits.h"
#include "pusher/unit.h"
#include "pusher/write_batcher.h"

namespace fanline::pusher {

class PostRuns {
 public:
  PostRuns(const RunPorts& ports, const Limits& limits) : ports_(ports), limits_(limits) {}

  // Reads the first page, or the one that failed. `unit` must stay where it is until its run has
  // ended: finished, answered `never`, or forgotten.
  void Begin(const Unit& unit);
  // Offers an answer; returns the steps that it brings.
  std::optional<RunStep> On(PostPage& page);
  std::vector<RunStep> On(const BatchWritten& written);
  void On(const PartMarked& marked, Now now) { marks_.On(marked, now); }
  // Sends the writes that wait, as far as batches may be under way to each node of Redis.
  void SendBatches();
  // Forgets all units of a range that was lost. Their writes may still arrive in Redis, where the
  // epoch refuses them.
  void Forget(Range range);

  size_t waiting_readers() const;  // followers whose writes are in no batch yet

 private:
  struct Run {
    const Unit* unit = nullptr;
    std::vector<PostId> posts;  // distinct, as asked from the truth
    std::vector<Item> adds;
    std::vector<PostId> removes;
    bool states_read = false;
    std::optional<FollowerCursor> page_from;  // where the current page began
    std::optional<FollowerCursor> next_page;
    size_t writes_open = 0;  // timelines of this page not yet acknowledged
    bool delivered = false;  // reached at least one live timeline
    Status trouble;          // the first failure among this page's batches
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
  };

  void ReadPage(const Run& run);
  void Send(Range range, Writes& writes);
  RunStep PageDone(Run& run);
  RunStep Failed(const Run& run, const Status& status);
  void MarkParts(const Run& run);

  const RunPorts ports_;
  const Limits& limits_;
  DeliveryMarks marks_{ports_.timelines, ports_.metrics, ports_.ids};
  std::unordered_map<uint64_t, Run> runs_;  // by unit
  std::map<Range, Writes> writes_;
  Range last_sent_ = -1;                        // round robin over ranges
  std::unordered_map<uint64_t, Sent> batches_;  // under way, by request
  std::map<uint32_t, uint32_t> batches_at_;     // how many of them, by node
};

}  // namespace fanline::pusher
