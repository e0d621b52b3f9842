// Splits a command line into names and texts, without interpreting the values. Part of options.h:
// programs do not call it.
//
// A value is the next argument, or the text after '=', which may be empty. A bool takes its value
// after '=' only. After -- there are only arguments. All problems are reported together.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fanline::daemon {

class Option;
class OptionTable;

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

}  // namespace fanline::daemon
