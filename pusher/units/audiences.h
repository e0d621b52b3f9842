// The audiences of the ranges that are claimed, and the calls that ask for their news. Runs of
// posts and of syncs share them.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "pusher/base/common.h"
#include "pusher/units/audience.h"

namespace fanline::pusher {

class Audiences {
 public:
  explicit Audiences(Common& common) : common_(common) {}

  // The range was taken over with this index (Units::Opened), on this node of Redis.
  void TakeOver(Range range, uint32_t node, uint64_t epoch, uint64_t index);
  void ForgetRange(Range range);

  // Of a range that is claimed.
  Audience& Of(Range range) { return claimed_.at(range).audience; }
  const Audience& Of(Range range) const { return claimed_.at(range).audience; }
  // Null: the claim was lost.
  Audience* Find(Range range, uint64_t epoch);

  // Asks for the news that units wait for. A node has one call under way that nobody waits for:
  // after a takeover its ranges read their indexes one after the other, behind the posts.
  void AskForNews();
  // The range that asked for these news, unless it was lost meanwhile; once for each answer.
  std::optional<Range> AskedFor(const NewsRead& news);

  uint64_t live_readers() const;

 private:
  struct Claimed {
    uint32_t node = 0;
    uint64_t epoch = 0;
    Audience audience;
  };
  struct Asked {
    Range range = 0;
    bool is_waited_for = false;
  };

  std::set<uint32_t> ReadingNodes() const;

  Common& common_;
  std::map<Range, Claimed> claimed_;
  std::unordered_map<uint64_t, Asked> asked_;  // for news, by request
};

}  // namespace fanline::pusher
