// Makes a timeline live: two scripts with a token around reads of the truth.
//   begin: the key exists from now on and collects pushes; removals are recorded
//   pull:  the newest W pushed items of all followed users (and of the reader if own posts are
//          wanted), and the authors to mark
//   finish: the pulled and the meanwhile pushed items become the timeline, with its floor
// The token is gone when the key expired, grew past its bound or met a sync; the rebuild then
// starts again. Readers never see a key that is being built.
// Passive: needed() says what comes next, the On...() take its answer. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/ports/reader_ports.h"
#include "timeline/pull.h"

namespace fanline::timeline {

struct NeedBegin {
  std::string token;
};
struct NeedFinish {
  std::string token;
  std::vector<Item> items;
  Floor floor = kNoFloor;
  std::vector<UserId> marked;  // followed authors who may have posts that are merged at read
};
using RebuildNeed =
    std::variant<NeedBegin, NeedFollowees, NeedLastAt, NeedItems, NeedFinish, NothingNeeded>;

enum class RebuildResult {
  kUnderWay,
  kRebuilt,
  kAlreadyReady,  // another rebuild was faster
  kBusy,          // another rebuild of this reader is under way (single flight)
  kRefused,       // the range is not served under this topic generation yet
  kGaveUp,        // the token went away in every attempt
  kNotAdmitted,   // no shard knows the user (Reader::Activate)
};

class Rebuild {
 public:
  // `next_token` makes a new token at each attempt; tokens must never repeat. items_per_read: 0 =
  // Pull's default. `own`: the reader, if home timelines hold the reader's own posts.
  Rebuild(WindowLimits window, std::function<std::string()> next_token, std::optional<UserId> own,
          uint32_t attempts = 5, uint32_t items_per_read = 0, const MutationSwitches& guards = {});

  RebuildNeed needed() const;
  // The token of the attempt under way; abandon it if a call fails.
  const std::string& token() const { return token_; }
  void OnBegun(RebuildBegun begun);
  void OnFollowees(std::vector<UserId> authors) { pull_.OnFollowees(std::move(authors)); }
  void OnNotAdmitted() { result_ = RebuildResult::kNotAdmitted; }  // instead of OnFollowees
  void OnLastAt(std::vector<AuthorLastAt> authors) { pull_.OnLastAt(std::move(authors)); }
  void OnItems(ItemsRead read) { pull_.OnItems(std::move(read)); }
  void OnFinished(bool applied);

  RebuildResult result() const { return result_; }

 private:
  void StartAttempt();
  Pull NewPull() const { return Pull(limits_, {}, {}, Pulled::kPushed, own_); }

  PullLimits limits_;
  std::function<std::string()> next_token_;
  std::optional<UserId> own_;
  bool marks_;  // whom the pull found to have posts that are merged at read
  uint32_t attempts_left_;
  bool begun_ = false;
  std::string token_;
  Pull pull_;
  RebuildResult result_ = RebuildResult::kUnderWay;
};

}  // namespace fanline::timeline
