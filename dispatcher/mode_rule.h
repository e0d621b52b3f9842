// When an author is switched automatically: to merging at read above one cost of a post, back to
// pushing below a lower one. Pure; any thread.
//
//   cost = live followers x max(1, lag / lag_step), at most kMostFactor x live followers
//
// The lag counts because a fleet that is behind has more need to save work. The factor is bounded,
// or every author would be above after an hour's outage.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "fanline/model/author_mode.h"

namespace fanline::dispatcher {

struct ModeRule {
  static constexpr double kMostFactor = 10;
  // How long a weight's lag counts, and how long the weight counts at all.
  static constexpr Duration kLagHolds = std::chrono::minutes(1);
  static constexpr Duration kWeightHolds = std::chrono::hours(24);

  // With this many counted in one range, the estimate for all ranges errs by 10%; with fewer, by
  // more.
  static constexpr uint64_t kTellingReaders = 100;

  uint64_t pull_above = 0;  // a cost; 0: no author is switched to pull
  uint64_t push_below = 0;  // a cost; 0: half of pull_above
  Duration hold =
      std::chrono::minutes(10);  // from a switch to pull until the author may be pushed again
  Duration lag_step = std::chrono::seconds(5);
  Duration weigh_every = std::chrono::seconds(30);

  bool on() const { return pull_above > 0; }
  uint64_t lower() const { return push_below > 0 ? push_below : pull_above / 2; }
  // The lowest pull_above that estimates can resolve, since one range is counted for all.
  static uint64_t LeastTelling(uint32_t ranges) { return kTellingReaders * ranges; }
  bool TooFine(uint32_t ranges) const { return on() && pull_above < LeastTelling(ranges); }
};

enum class SwitchCause : size_t {
  kFollowers,  // the cost is above by the followers alone
  kLag,        // the cost is above while the fleet is behind
  kFell,       // the cost fell below the lower bound
  kOff,        // automatic switching is off
};
inline constexpr size_t kSwitchCauses = 4;

struct ModeSwitch {
  bool pull = false;
  SwitchCause cause{};
};

inline double CostOf(const ModeRule& rule, const AuthorWeight& weight) {
  const auto live = static_cast<double>(weight.live);
  if (weight.age > ModeRule::kLagHolds) return live;
  const double steps = std::chrono::duration<double>(weight.lag) / rule.lag_step;
  return live * std::clamp(steps, 1.0, ModeRule::kMostFactor);
}

// None: the author stays as is.
inline std::optional<ModeSwitch> Decide(const ModeRule& rule, const AuthorMode& mode) {
  if (mode.by_hand || (mode.pull && mode.since < rule.hold)) return std::nullopt;
  if (!rule.on()) {
    if (!mode.pull) return std::nullopt;
    return ModeSwitch{false, SwitchCause::kOff};
  }
  const AuthorWeight& weight = mode.weight;
  if (weight.age > ModeRule::kWeightHolds) return std::nullopt;
  const double cost = CostOf(rule, weight);
  if (!mode.pull) {
    if (cost < static_cast<double>(rule.pull_above)) return std::nullopt;
    const bool alone = weight.live >= rule.pull_above;
    return ModeSwitch{true, alone ? SwitchCause::kFollowers : SwitchCause::kLag};
  }
  // The weight that switched the author to pull does not switch back.
  const bool since_then = weight.age < mode.since;
  if (!since_then || cost >= static_cast<double>(rule.lower())) return std::nullopt;
  return ModeSwitch{false, SwitchCause::kFell};
}

// Whether the author's next post is to be weighed. A pushed author is weighed only with enough
// followers to get above, so most authors cost nothing here.
inline bool Weighs(const ModeRule& rule, const AuthorMode& mode, uint64_t followers) {
  if (!rule.on() || mode.by_hand || mode.weight.age < rule.weigh_every) return false;
  const double most = ModeRule::kMostFactor * static_cast<double>(followers);
  return mode.pull || most >= static_cast<double>(rule.pull_above);
}

}  // namespace fanline::dispatcher
