// The texts of a program about its own options. Part of options.h; programs do not call it.
#pragma once

#include <string>
#include <vector>

namespace fanline::daemon {

class OptionTable;

// One line of --check-config: an option, its value as it may be shown, and the value's source.
struct EffectiveValue {
  std::string name;
  std::string value;
  std::string source;
};

// --help for the innermost table of `path` (the program's table, then each command's).
[[nodiscard]] std::string HelpText(const std::vector<const OptionTable*>& path);

[[nodiscard]] std::string VersionText(const OptionTable& program);

// --check-config: aligned `name = value  (source)` lines, then the warnings.
[[nodiscard]] std::string EffectiveText(const std::vector<EffectiveValue>& values,
                                        const std::vector<std::string>& warnings);

}  // namespace fanline::daemon
