// Looks at one reader's timeline: reads it and the truth about it, and compares them as the audit
// of all does. The watch uses it, and the repair of timelines that were found wrong.
//
// A look cannot name the author of a missing post, except for posts that are merged at read.
//
// A difference may only be in flight: a post whose hint is not applied yet. To be sure, look again
// later and count what differed both times (InBoth).
#pragma once

#include <cstdint>
#include <vector>

#include "audit/findings.h"
#include "fanline/base/outcome.h"
#include "fanline/ports/raw_timeline.h"
#include "fanline/ports/reader_truth.h"

namespace fanline::audit {

struct LookLimits {
  uint32_t most_followees = 20'000;  // no post is compared for a reader who follows more
  uint32_t most_marked = 64;         // followed authors with marks, one statement each; the same
  uint32_t most_items = 4'000;       // of the truth; beyond, surplus is not judged
};

struct Look {
  bool judged = false;    // in full; false: not live, being rebuilt, or too_much
  bool gone = false;      // not live
  bool too_much = false;  // to read; only what needs no posts was compared, as the length
  uint64_t items = 0;     // of the timeline, compared
  std::vector<Difference> differences = {};  // all that were found
};

// One thread. A look asks Redis twice, the reader's shard once, and each shard of followed users a
// few times (one statement per 900 users).
class Looker {
 public:
  // The ports outlive it. `least`: as in TimelineCheck. `own_posts`: home timelines hold the
  // reader's own posts.
  Looker(ReaderTruth& truth, RawTimelines& timelines, uint32_t least, bool own_posts,
         LookLimits limits = {})
      : truth_(truth),
        timelines_(timelines),
        least_(least),
        limits_(limits),
        own_posts_(own_posts) {}

  // Not done: a service is away, or there is a fault; *look is meaningless then.
  [[nodiscard]] Status LookAt(UserId reader, Look* look);

 private:
  struct Known;
  Status ReadTruth(UserId reader, Floor floor, Known* known);
  Status ReadPosts(const std::vector<PostsOf>& of, Floor floor, Known* known);

  ReaderTruth& truth_;
  RawTimelines& timelines_;
  const uint32_t least_;
  const LookLimits limits_;
  const bool own_posts_;
};

// Those of `before` that are also in `now`; both of one reader.
std::vector<Difference> InBoth(std::vector<Difference> before, const std::vector<Difference>& now);

// Those that are not among the known ones.
std::vector<Difference> Without(std::vector<Difference> differences,
                                const std::vector<Difference>& known);

// How many of them are missing items or marks, and how many are extra ones.
uint64_t MissingIn(const std::vector<Difference>& differences);
uint64_t SurplusIn(const std::vector<Difference>& differences);

}  // namespace fanline::audit
