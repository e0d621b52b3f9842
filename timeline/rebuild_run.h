// Makes a reader's timeline live by requests: the first script, the reads of the truth, their
// proof, the second script. A run that fails gives the timeline up, so that the next may begin at
// once.
//
// Passive: Begin and On return the requests to be made, all at once; replies come in any order.
#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "fanline/ports/reader_truth.h"
#include "timeline/rebuild.h"

namespace fanline::timeline {

class RebuildRun {
 public:
  using Request = std::variant<BeginRebuild, FinishRebuild, AbandonRebuild, LookUpUser,
                               ReadFollowees, ReadLastAt, ReadItems, ConfirmReads>;
  using Requests = std::vector<Request>;
  using Admit = std::function<bool()>;

  // `admit`, if given, is asked once about a user whom no shard knows: if false, no timeline is
  // made (kNotAdmitted). `map` outlives it.
  RebuildRun(UserId reader, Rebuild rebuild, const ShardMap& map, Admit admit = {})
      : reader_(reader),
        rebuild_(std::move(rebuild)),
        map_(map),
        admit_(std::move(admit)),
        reads_(map, TruthReads::Answers::kWhole) {}

  Requests Begin() { return GoOn(); }

  // Each returns the next requests; none while others are under way, and when the run is done.
  Requests On(const RebuildBegan& reply);
  Requests On(FolloweesRead reply);
  Requests On(const UserLookedUp& reply);
  Requests On(LastAtRead reply);
  Requests On(ItemsAnswered reply);
  Requests On(const ReadsConfirmed& reply);
  Requests On(const RebuildFinished& reply);
  Requests On(const RebuildAbandoned& reply);

  bool done() const { return done_; }
  // When done.
  const Status& status() const { return status_; }
  RebuildResult result() const { return rebuild_.result(); }

 private:
  Requests GoOn();
  Requests Finish();
  Requests Abandon(const Status& status);
  template <class Give>
  Requests Next(const Status& status, const Give& give);

  const UserId reader_;
  Rebuild rebuild_;
  const ShardMap& map_;
  const Admit admit_;
  TruthReads reads_;
  bool admitted_ = false;
  bool done_ = false;
  Status status_;
};

}  // namespace fanline::timeline
