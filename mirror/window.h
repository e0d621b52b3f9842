// The changes of log1 that a mirror has in memory. They are kept by the pair of their forward
// shard, whose log1 they are in, and their reverse shard. The rows of each pair are bounded apart,
// so one pair's take no room from another's.
//
// Rows of one edge are one job: they are written together, at the highest version. A job has at
// most one run at a time.
//
// A row is in the window from its read until its mark is acknowledged. All its values name it
// (LogRow), since a shard that lost its tail gives its ids out again.
//
// Passive, not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/change_log.h"

namespace fanline::mirror {

enum class RowStep {
  kRead,       // its msg1 is not acknowledged yet
  kAnnounced,  // it may be written
  kRunning,    // it is being written, or what follows from that is under way
  kSetAside,   // it can never be written; its dead letter is under way
  kMarking,    // it only needs its mark
};

struct WindowRow {
  LoggedChange change;
  Time read_at{};       // when the last read was sent that found it pending
  uint64_t doubts = 0;  // Steps::doubts of its forward shard at read_at
  RowStep step = RowStep::kRead;
};

// What the rows of a job have in common. A row that nobody can apply is a job of its own.
struct JobKey {
  ChangeKind kind = ChangeKind::kEdge;
  EdgeKey edge;
  uint64_t damaged = 0;  // the id of a row that nobody can apply; 0: the rows are sound
  friend bool operator==(const JobKey&, const JobKey&) = default;
};

struct Job {
  JobKey key;
  Shard forward = 0, reverse = 0;
  std::vector<WindowRow> rows;  // not empty
  bool queued = false;          // from when it waits to be written until its msg2 is acknowledged
  bool to_mark = false;         // it waits for a statement that marks rows
  bool hinted = false;          // its hint is acknowledged, and it waits for a look at old rows
  uint64_t mirrored = 0;  // the reverse row's version after its run; 0: a row of the run is gone

  bool Has(RowStep step) const;
  // Moves the rows in step `from` to step `to`.
  void Move(RowStep from, RowStep to);
};

class Window {
 public:
  // `rows`: at most so many for each pair.
  Window(Shard shards, size_t rows) : shards_(shards), most_(rows), pairs_(shards * shards) {}

  // The row of a pair; null: it is not in the window.
  WindowRow* Find(Shard forward, Shard reverse, const JobKey& key, const LogRow& row);
  bool HasRoom(Shard forward, Shard reverse, size_t rows = 1) const {
    return At(forward, reverse).rows + rows <= most_;
  }
  // Adds a row; returns its job's id.
  uint64_t Add(Shard forward, Shard reverse, const JobKey& key, WindowRow row);

  // Null: it has left the window.
  Job* Find(uint64_t id);
  // A job's row; null: it has left the window.
  WindowRow* Find(uint64_t id, const LogRow& row);
  // Removes a row, and with the last one its job.
  void Remove(uint64_t id, const LogRow& row);
  void RemoveAll(Shard forward);

  template <typename Act>
  void ForEach(Act act) const {
    for (const auto& [id, job] : jobs_) act(job);
  }

 private:
  struct Hash {
    size_t operator()(const JobKey& key) const noexcept {
      return std::hash<EdgeKey>()(key.edge) + key.damaged + static_cast<size_t>(key.kind);
    }
  };
  struct Pair {
    std::unordered_map<JobKey, uint64_t, Hash> jobs;
    size_t rows = 0;
  };
  using Jobs = std::unordered_map<uint64_t, Job>;

  Pair& At(Shard forward, Shard reverse) { return pairs_[forward * shards_ + reverse]; }
  const Pair& At(Shard forward, Shard reverse) const { return pairs_[forward * shards_ + reverse]; }

  const size_t shards_, most_;
  uint64_t ids_ = 0;
  std::vector<Pair> pairs_;
  Jobs jobs_;
};

}  // namespace fanline::mirror
