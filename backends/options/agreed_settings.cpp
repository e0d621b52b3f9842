#include "backends/options/agreed_settings.h"

#include <tuple>
#include <utility>

namespace fanline::options {
void AddWindow(daemon::OptionTable& table, daemon::OptionTarget window,
               daemon::OptionTarget max_entries) {
  table
      .Add("window", std::move(window),
           "items a live timeline keeps; the same for every program of an installation")
      .Range(1, 10'000)
      .Unit("ITEMS");
  table
      .Add("timeline-max-entries", std::move(max_entries),
           "members a timeline never exceeds; the server's zset-max-listpack-entries should not "
           "be lower, or a timeline takes 5 times the memory")
      .Range(1 + WindowLimits::kBeside, 20'000)
      .Unit("MEMBERS");
}

void AddWindow(daemon::OptionTable& table, AgreedSettings& told) {
  AddWindow(table, &told.window, &told.max_entries);
  table.Check([&told] {
    return told.window && told.max_entries ? Problem({*told.window, *told.max_entries}) : "";
  });
}

void AddFollowingLimit(daemon::OptionTable& table, daemon::OptionTarget limit) {
  table
      .Add("following-limit", std::move(limit),
           "a user follows at most so many, and within an hour changes a twelfth of it (at least "
           "400)")
      .Range(1, 1'000'000);
}

std::string Mismatch(const AgreedSettings& told, const mysql::Installation& installation) {
  const std::tuple<std::string, std::optional<uint32_t>, uint32_t> all[] = {
      {"--window", told.window, installation.window.window},
      {"--timeline-max-entries", told.max_entries, installation.window.max_entries},
      {"--following-limit", told.following_limit, installation.following_limit}};
  for (const auto& [flag, value, installed] : all) {
    if (value.value_or(installed) == installed) continue;
    return flag + ": " + std::to_string(*value) + " is not the installation's, which is " +
           std::to_string(installed) + "; leave " + flag + " out or set it to that";
  }
  return {};
}

std::string Problem(const WindowLimits& window) {
  if (window.fits()) return {};
  return "--window: " + std::to_string(window.window) + " does not fit --timeline-max-entries " +
         std::to_string(window.max_entries) + ", which must be larger by at least " +
         std::to_string(WindowLimits::kBeside) +
         "; raise it, and the server's zset-max-listpack-entries with it";
}

}  // namespace fanline::options
