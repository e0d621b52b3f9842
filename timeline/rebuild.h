// Makes a reader's timeline live by requests: two scripts with a token around reads of the truth.
//   begin: the key exists from now on and collects pushes; removals are recorded
//   pull:  the newest W pushed items of all followed users (and of the reader if own posts are
//          wanted), and the authors to mark; then the proof that the shards answered the truth
//   finish: the pulled and the meanwhile pushed items become the timeline, with its floor
// The token is gone when the key expired, grew past its bound or met a sync. The rebuild then
// starts again, as it does when removals left less than half a window above a floor. Readers never
// see a key that is being built. A rebuild that fails gives the timeline up, so that the next may
// begin at once.
//
// Passive: Begin and On return the requests to be made, all at once; replies come in any order. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/ports/reader_truth.h"
#include "timeline/pull.h"

namespace fanline::timeline {

enum class RebuildResult {
  kUnderWay,
  kRebuilt,
  kAlreadyReady,  // another rebuild was faster
  kBusy,          // another rebuild of this reader is under way (single flight)
  kRefused,       // the range is not served under this topic generation yet
  kGaveUp,        // the token went away in every attempt
  kNotAdmitted,   // no shard knows the user (Reader::Activate)
};

struct RebuildRules {
  WindowLimits window;
  std::function<std::string()> next_token;  // a new one at each attempt; tokens must never repeat
  bool own_posts = false;                   // home timelines hold the reader's own
  uint32_t attempts = 5;
  uint32_t items_per_read = 0;  // 0: Pull's default
  MutationSwitches guards = {};
};

class Rebuild {
 public:
  using Request = std::variant<BeginRebuild, FinishRebuild, AbandonRebuild, LookUpUser,
                               ReadFollowees, ReadLastAt, ReadItems, ConfirmReads>;
  using Requests = std::vector<Request>;
  using Admit = std::function<bool()>;

  // `admit`, if given, is asked once about a user whom no shard knows: if false, no timeline is
  // made (kNotAdmitted). `map` outlives it.
  Rebuild(UserId reader, RebuildRules rules, const ShardMap& map, Admit admit = {});

  Requests Begin();

  // Each returns the next requests; none while others are under way, and when the rebuild is done.
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
  RebuildResult result() const { return result_; }

 private:
  Pull NewPull() const;
  Requests Read();
  // After a reply to a read; `last`: to its last one.
  template <class Give>
  Requests Next(bool last, const Give& give);
  Requests Finish();
  Requests Abandon(const Status& status);
  Requests End(RebuildResult result);

  const UserId reader_;
  const RebuildRules rules_;
  const ShardMap& map_;
  const Admit admit_;
  TruthReads reads_;
  uint32_t attempts_ = 0;
  std::string token_;  // of the attempt under way
  Pull pull_;
  bool admitted_ = false;
  bool done_ = false;
  Status status_;
  RebuildResult result_ = RebuildResult::kUnderWay;
};

}  // namespace fanline::timeline
