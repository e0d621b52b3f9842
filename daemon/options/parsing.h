// The parts of OptionTable::Parse. Part of options.h: programs do not call them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fanline::daemon {

class Option;
class OptionTable;

// ---- command_line.cpp: splits a command line into names and texts ---------------------------
// It does not interpret the values. A value is the next argument, or the text after '=', which may
// be empty. A bool takes its value after '=' only. After -- there are only arguments. All problems
// are reported together.

struct CommandLine {
  // The table of the program, then of each command given, outermost first.
  std::vector<const OptionTable*> path;
  // The texts given, in order; an option that was not given is absent.
  std::map<const Option*, std::vector<std::string>> values;
  bool help = false;
  bool version = false;
  bool check_config = false;
  std::vector<std::string> config_file;  // of --config; a second one is a problem
  std::vector<std::string> problems;     // one line each
};

// `arguments` without the program's name.
[[nodiscard]] CommandLine ReadCommandLine(const OptionTable& program,
                                          const std::vector<std::string>& arguments);

// ---- options_text.cpp: the texts of a program about its own options -------------------------

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
