// Reads a page of a home timeline by requests: first the live timeline, then what else is needed of
// the shards, then the proof that these answered the truth.
//
// With TruthReads::Answers::kPartly a page is served without the posts of shards that do not
// answer, and says so (Page::incomplete). It fails if none answers, unless posts were only to be
// merged into a live timeline, or if the reader's own shard does not say whom the reader follows.
// If a shard does not prove what it answered, the page is read once more without its posts, but
// fails if that is the reader's own shard. A live page is served without all that was merged then.
//
// If the reader's mutes cannot be read, the page is served with kPartly by the last ones that are
// remembered, or without, and says so (Page::mutes_unknown). So is a live page, with any answers,
// if their row is read and found damaged; a pulled page shows all then, and says so. The row is not
// read while the version that the timeline names is remembered.
//
// The originals of reposts are asked of their shards. With kPartly, what is not known is left out,
// and the page says so.
//
// Passive: On and GoOn return the requests to be made, all at once; replies come in any order.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "fanline/ports/reader_truth.h"
#include "timeline/mutes_cache.h"
#include "timeline/original_reads.h"
#include "timeline/page.h"

namespace fanline::timeline {

class PageRun {
 public:
  using Request = std::variant<ReadFollowees, ReadLastAt, ReadItems, ConfirmReads, ReadMutes,
                               ReadLivePage, ReadOriginals, FindSources>;
  using Requests = std::vector<Request>;

  // `own`: as of PageRead. `map` outlives it, and so does `remembered`, which may be null.
  PageRun(UserId reader, const PageQuery& query, std::optional<UserId> own, const ShardMap& map,
          TruthReads::Answers answers, const MutationSwitches& guards = {},
          MutesCache* remembered = nullptr)
      : reader_(reader),
        own_shard_(map.ShardOf(reader)),
        map_(map),
        answers_(answers),
        guards_(guards),
        remembered_(remembered),
        read_(query, own, guards),
        reads_(map, answers),
        originals_(map) {}

  ReadLivePage Begin() const;
  // If it is not done, the page is pulled. GoOn follows, unless read() is done.
  void OnLive(LivePageRead reply);
  // What GoOn begins with: the requests for what is muted in a live page, for its refill, and for
  // originals; none: it needs nothing. OnMutes, OnLive or OnOriginals takes the reply, and Filter
  // or GoOn follows.
  Requests Filter();
  void OnMutes(MutesRead reply);
  bool OnOriginals(const OriginalsRead& reply);  // whether it was the last one
  // None: it is done.
  Requests GoOn();

  // Each returns the next requests; none while others are under way, and when the run is done.
  Requests On(FolloweesRead reply);
  Requests On(LastAtRead reply);
  Requests On(ItemsAnswered reply);
  Requests On(const ReadsConfirmed& reply);
  Requests On(MutesRead reply);
  Requests On(LivePageRead reply);
  Requests On(const OriginalsRead& reply);
  Requests On(const SourcesFound& reply);

  // A caller may give it what is beside() before GoOn.
  PageRead& read() { return read_; }
  const PageRead& read() const { return read_; }

  // Whether the shards are asked for what is merged into a live page alone, or for its proof.
  bool merges() const {
    return read_.merges() || (first_ && first_->merges() && read_.done() && !pulled_);
  }
  bool done() const { return done_; }
  const Status& status() const { return status_; }
  Page Take();  // when done well, or when read() is done without a request to the shards

 private:
  // After a reply. `give` hands the last read to the page.
  template <class Give>
  Requests Next(bool last, const Give& give);
  Requests End(const Status& status);
  Requests Search(const NeedSources& need);

  const UserId reader_;
  const Shard own_shard_;
  const ShardMap& map_;
  const TruthReads::Answers answers_;
  const MutationSwitches guards_;
  MutesCache* const remembered_;
  PageRead read_;
  TruthReads reads_;
  OriginalReads originals_;
  size_t searches_ = 0;             // under way
  std::vector<Original> in_front_;  // what they found
  Status search_failed_;            // one of them
  std::optional<PageRead> first_;   // as it was before the shards were asked, to begin again
  bool asked_ = false;              // the shards
  bool pulled_ = false;             // whom the reader follows was asked, for more than a merge
  bool own_unproved_ = false;       // the reader's shard gave no proof
  bool done_ = false;
  Status status_;
};

}  // namespace fanline::timeline
