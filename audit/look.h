// Looks at one reader's timeline: reads it and the truth about it, and compares them as the audit
// of all does. For who looks at a few: the watch, and the repair of those found wrong before.
//
// A look cannot name the author of a missing post, except for posts that are merged at read.
//
// What a look finds may be in flight only: a post whose hint is not applied yet. Whoever wants to
// know looks again later, and believes what was so both times (InBoth).
#pragma once

#include <cstdint>
#include <vector>

#include "audit/findings.h"
#include "fanline/base/outcome.h"
#include "fanline/ports/raw_timeline.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::audit {

struct LookLimits {
  uint32_t most_followees = 20'000;  // of who follows more, no post is compared
  uint32_t most_marked = 64;    // of them, each a statement; of who follows more, no post either
  uint32_t most_items = 4'000;  // of the truth; of more, what is surplus is not judged
};

struct Look {
  bool judged = false;    // as a whole; false: not live, being rebuilt, or too_much
  bool gone = false;      // not live
  bool too_much = false;  // to be read of the truth: compared was what needs no post, as the length
  uint64_t items = 0;     // compared, of the timeline
  std::vector<Difference> differences = {};  // all of what was compared
};

// One thread. A look asks Redis twice, the reader's shard once, and of the shards of those the
// reader follows each a few times (900 of them a statement).
class Looker {
 public:
  // The ports outlive it. `least`: of TimelineCheck. `own_posts`: home timelines hold the reader's
  // own posts.
  Looker(ReaderTruth& truth, RawTimelines& timelines, uint32_t least, bool own_posts,
         LookLimits limits = {})
      : truth_(truth),
        timelines_(timelines),
        least_(least),
        limits_(limits),
        own_posts_(own_posts) {}

  // Not done: a service is away, or a fault; *look says nothing then.
  [[nodiscard]] Status LookAt(UserId reader, Look* look);

 private:
  struct Known;
  Status ReadTruth(UserId reader, Floor floor, Known* known);
  Status ReadPosts(const std::vector<PostsOf>& of, UserId as, Floor floor, Known* known);

  ReaderTruth& truth_;
  RawTimelines& timelines_;
  const uint32_t least_;
  const LookLimits limits_;
  const bool own_posts_;
};

// What of `before` is still so in `now`, of one reader.
std::vector<Difference> InBoth(const std::vector<Difference>& before,
                               const std::vector<Difference>& now);

// Those that are not among the known ones.
std::vector<Difference> Without(const std::vector<Difference>& differences,
                                const std::vector<Difference>& known);

// How many of them are of something missing, and of something that should not be there.
uint64_t MissingIn(const std::vector<Difference>& differences);
uint64_t SurplusIn(const std::vector<Difference>& differences);

}  // namespace fanline::audit
