// How a batch of forward rows (msg1) changes the reverse rows: the higher version wins. Pure. The
// same messages, in any order, repeated or cut into other batches, end in the same rows and
// counters. A batch seen again writes nothing.
//
// The store applies a fold in one transaction that holds the locks of all edges of the batch. It
// takes them in the order of EdgesToLock, so that two appliers cannot deadlock. All dst of a batch
// belong to one shard, which holds the reverse rows and their counters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fanline/model/edge.h"
#include "fanline/wire/relation_log.h"

namespace fanline {

struct CounterChange {
  UserId user{};   // whose fans_cnt
  int64_t by = 0;  // never 0
  friend bool operator==(const CounterChange&, const CounterChange&) = default;
};

struct Folded {
  std::vector<Edge> rows;               // to be written, in the order of EdgesToLock
  std::vector<CounterChange> counters;  // by user, ascending: from the rows' own transitions
  // One msg2 per message, in their order, even for a stale or repeated message. After the commit
  // its hint and then this msg2 go out again, since a crash may have lost the first ones. The
  // version is the reverse row's now: the message's or a newer one.
  std::vector<EdgeMirrored> mirrored;
};

// Every edge of the batch once, in the order of the primary key of `follower`: dst, bucket of src,
// src.
std::vector<EdgeKey> EdgesToLock(std::span<const Edge> messages);

// `rows`: what the table holds of these edges, in any order; an edge without a row is left out.
Folded Fold(std::span<const Edge> messages, std::span<const Edge> rows);

}  // namespace fanline
