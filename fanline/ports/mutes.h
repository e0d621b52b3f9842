// Requests about the authors whom a reader mutes: one row, on the reader's shard.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/mutes.h"

namespace fanline {

// The row; without one the default. The truth if the reply is done.
struct ReadMutes {
  using Reply = struct MutesRead;
  uint64_t id = 0;
  Shard shard = 0;  // the reader's
  UserId reader{};
};
struct MutesRead {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  Mutes mutes;
};

// Writes the row and a row of log1 in one transaction, so that the mirror has the reader's live
// timeline told. What is so already is done, whatever was expected, and writes nothing. A row that
// is damaged is changed by kReplace alone: a change of it would be one of nobody knows what. Two
// changes at once are made one after the other; `expected` lets a caller who has read the row
// refuse to change another one.
struct ChangeMutes {
  enum class What { kMute, kUnmute, kReplace };

  using Reply = struct MutesChanged;
  uint64_t id = 0;
  UserId user{};
  What what = What::kMute;
  std::vector<UserId> authors = {};       // to mute or unmute, or all to be muted from now on
  std::optional<uint64_t> expected = {};  // the version that the change is of
  uint64_t unix_us = 0;                   // wall time, which versions roughly follow
};
struct MutesChanged {
  uint64_t id = 0;
  Status status;
  Mutes now;
  bool changed = false;     // false also after a repetition, and if `now` is damaged
  bool conflicts = false;   // nothing was written: `now` has another version than was expected
  bool over_limit = false;  // nothing was written: more than kMostMuted
};

// The row after the change, but for its version. Ids may come in any order, and more than once.
inline Mutes After(const Mutes& before, const ChangeMutes& change) {
  std::vector<UserId> authors = change.authors;
  std::sort(authors.begin(), authors.end());
  authors.erase(std::unique(authors.begin(), authors.end()), authors.end());
  Mutes after{before.version, {}};
  const auto merge = [&](auto by) {
    by(before.authors.begin(), before.authors.end(), authors.begin(), authors.end(),
       std::back_inserter(after.authors));
  };
  switch (change.what) {
    case ChangeMutes::What::kMute:
      merge([](auto... range) { std::set_union(range...); });
      break;
    case ChangeMutes::What::kUnmute:
      merge([](auto... range) { std::set_difference(range...); });
      break;
    case ChangeMutes::What::kReplace:
      after.authors = std::move(authors);
      break;
  }
  return after;
}

// The answer to a change of the row `before`, without an id. If it is `changed`, `now` is to be
// written.
inline MutesChanged Decide(const Mutes& before, const ChangeMutes& change) {
  MutesChanged out;
  out.now = before;
  if (before.damaged && change.what != ChangeMutes::What::kReplace) return out;
  Mutes after = After(before, change);
  if (after == before) return out;
  out.conflicts = change.expected && *change.expected != before.version;
  if (out.conflicts) return out;
  out.over_limit = after.authors.size() > kMostMuted;
  if (out.over_limit) return out;
  after.version = std::max(before.version + 1, change.unix_us);
  out.now = std::move(after);
  out.changed = true;
  return out;
}

}  // namespace fanline
