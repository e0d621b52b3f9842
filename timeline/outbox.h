// Reads one page of an author's own posts, pushed or not, by requests: the posts, then the
// originals of the reposts among them. A repost whose original cannot be seen is left out, and the
// page is read on, a bounded number of times, as a home timeline is (timeline/page.h).
//
// With TruthReads::Answers::kPartly a repost of whose original nobody knows is left out, and the
// page says so (Page::incomplete).
//
// Passive: Begin and On return the requests to be made, all at once; replies come in any order. Not
// thread-safe.
#pragma once

#include <variant>
#include <vector>

#include "fanline/ports/reader_truth.h"
#include "timeline/original_reads.h"
#include "timeline/page.h"

namespace fanline::timeline {

class OutboxRun {
 public:
  using Request = std::variant<ReadOutbox, ReadOriginals>;
  using Requests = std::vector<Request>;

  // Each repost is an item, whatever the query says. `map` outlives it.
  OutboxRun(UserId author, const PageQuery& query, const ShardMap& map, TruthReads::Answers answers)
      : author_(author), query_(query), map_(map), answers_(answers), originals_(map) {}

  Requests Begin();
  // Each returns the next requests; none while others are under way, and when the run is done.
  Requests On(const OutboxRead& reply);
  Requests On(const OriginalsRead& reply);

  bool done() const { return done_; }
  const Status& status() const { return status_; }
  Page Take();  // when done well

 private:
  Requests GoOn();
  Requests End(const Status& status);

  const UserId author_;
  const PageQuery query_;
  const ShardMap& map_;
  const TruthReads::Answers answers_;
  OriginalReads originals_;
  Fold fold_{Reposts::kEach};
  int reads_ = 0;
  uint32_t asked_for_ = 0;           // items, by the last read
  bool all_ = false;                 // there are no more
  std::optional<Position> read_to_;  // the last item that was read
  bool done_ = false;
  Status status_;
  Page page_;
};

}  // namespace fanline::timeline
