// What a batch of forward rows (msg1) makes of the reverse rows: the last writer wins, by version.
// Pure. Any order, duplicates and any cut into batches of the same messages end in the same rows
// and counters; a batch seen again writes nothing.
//
// Whoever applies it does so in one transaction that holds the locks of all edges of the batch,
// taken in the order of EdgesToLock so that two appliers cannot deadlock. The shard is MariaDB's
// of dst: every message's reverse row and counter lie on it.
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
  // One per message, in their order, also of a stale or repeated one: after the commit its hint and
  // then this msg2 must go out again, since a crash may have lost those of the first time. The
  // version is what the reverse row has now, the message's or a newer one.
  std::vector<EdgeMirrored> mirrored;
};

// Every edge of the batch once, in the order of the primary key of `follower`: dst, bucket of src,
// src.
std::vector<EdgeKey> EdgesToLock(std::span<const Edge> messages);

// `rows`: what the table holds of these edges, in any order; an edge without a row is left out.
Folded Fold(std::span<const Edge> messages, std::span<const Edge> rows);

}  // namespace fanline
