// Shards whose primary changes while programs are connected. Each program finds out by itself: its
// next call to that shard still goes to the old server.
// A planned switch makes the old server read-only: it refuses writes, and answers reads with rows
// that no longer change. A reader then asks whether it is read-only, discards the answer and
// reconnects (docs/decisions/0023-truth-is-proved-after-it-is-read.md). After a failover to a
// replica that lags, the old server does not answer, and the rows that the replica lacks are lost.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "fanline/model/event.h"
#include "tests/fakes/fake_mysql.h"

namespace fanline::sim {

class Primaries {
 public:
  using Rows = std::shared_ptr<const fakes::FakeMysql>;

  explicit Primaries(Shard shards) : of_(shards) {}

  // Processes are numbered in the order of their starts; those below `started` are connected to the
  // old server. `before`: the rows from which the old server still answers reads; none: it does not
  // answer.
  void Switch(Shard shard, uint64_t started, Rows before) {
    ++switches_;
    of_[shard] = {started, std::move(before), {}, of_[shard].number + 1};
  }
  // Whether the process is still connected to the old server.
  bool LeadsAstray(uint64_t process, Shard shard) const {
    return process < of_[shard].started && !of_[shard].renewed.contains(process);
  }
  const Rows& Before(Shard shard) const { return of_[shard].before; }
  void Renew(uint64_t process, Shard shard) { of_[shard].renewed.insert(process); }
  uint64_t switches() const { return switches_; }
  uint64_t Number(Shard shard) const { return of_[shard].number; }  // of its primaries so far

 private:
  struct Primary {
    uint64_t started = 0;
    Rows before{};
    std::set<uint64_t> renewed{};
    uint64_t number = 1;
  };
  std::vector<Primary> of_;
  uint64_t switches_ = 0;
};

// A replica of a shard's posts, and the events whose rows it lacks.
struct Replica {
  Primaries::Rows rows;
  std::vector<FeedEvent> missing{};
};

}  // namespace fanline::sim
