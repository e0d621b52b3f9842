// Settings that all programs of an installation must agree on. Table `installation` holds them, as
// feedctl init wrote them. Some programs have options for them, too: an option that is not given
// takes the installation's value, one that differs is refused at start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/mysql/installation/installation.h"
#include "daemon/options/options.h"
#include "fanline/ports/live_timelines.h"

namespace fanline::options {

// As options told them; none: the installation's.
struct AgreedSettings {
  std::optional<uint32_t> window = std::nullopt;           // --window
  std::optional<uint32_t> max_entries = std::nullopt;      // --timeline-max-entries
  std::optional<uint32_t> following_limit = std::nullopt;  // --following-limit
};

// --window, --timeline-max-entries; --following-limit. A target is an optional number; for feedctl
// init, a number that holds its default.
void AddWindow(daemon::OptionTable& table, daemon::OptionTarget window,
               daemon::OptionTarget max_entries);
void AddFollowingLimit(daemon::OptionTable& table, daemon::OptionTarget limit);
// The first two into `told`, which outlives the table. A pair of them that fits no timeline is
// refused before any installation is asked.
void AddWindow(daemon::OptionTable& table, AgreedSettings& told);

// "" when no option that was given differs; else one line with both values that says what to do.
[[nodiscard]] std::string Mismatch(const AgreedSettings& told,
                                   const mysql::Installation& installation);

// "" when both fit each other; else one line that names the options.
[[nodiscard]] std::string Problem(const WindowLimits& window);

}  // namespace fanline::options
