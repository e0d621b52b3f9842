// Settings that all programs of an installation must agree on. feedctl init writes them to table
// `installation`. Some programs also have options for them: an option that is not given takes the
// installation's value, and one that differs is refused at the start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/mysql/installation/installation.h"
#include "daemon/options/options.h"
#include "fanline/ports/live_timelines.h"

namespace fanline::options {

// The values that options gave; none: the installation's.
struct AgreedSettings {
  std::optional<uint32_t> window = std::nullopt;           // --window
  std::optional<uint32_t> max_entries = std::nullopt;      // --timeline-max-entries
  std::optional<uint32_t> following_limit = std::nullopt;  // --following-limit
};

// --window, --timeline-max-entries; --following-limit. A target is an optional number, or for
// feedctl init a number that holds its default.
void AddWindow(daemon::OptionTable& table, daemon::OptionTarget window,
               daemon::OptionTarget max_entries);
void AddFollowingLimit(daemon::OptionTable& table, daemon::OptionTarget limit);
// The first two, into `told`, which outlives the table. A pair that does not fit together is
// refused before the installation is read.
void AddWindow(daemon::OptionTable& table, AgreedSettings& told);

// "" when no given option differs; else one line with both values and the advice.
[[nodiscard]] std::string Mismatch(const AgreedSettings& told,
                                   const mysql::Installation& installation);

// "" when both fit together; else one line that names the options.
[[nodiscard]] std::string Problem(const WindowLimits& window);

}  // namespace fanline::options
