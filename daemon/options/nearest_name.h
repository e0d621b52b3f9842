// "Did you mean": the known name a mistyped one is closest to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fanline::daemon {

// The name with the fewest insertions, deletions and replacements from `typed`, the first of
// equals; none if even that would be a guess (more than a third of it differs).
[[nodiscard]] std::optional<std::string> NearestName(std::string_view typed,
                                                     const std::vector<std::string>& known);

// ", did you mean X?", or nothing; to be appended to a refusal.
[[nodiscard]] std::string DidYouMean(std::string_view typed, const std::vector<std::string>& known);

}  // namespace fanline::daemon
