// Splits a command line and a configuration file into names and texts, without interpreting the
// values; the only user of CLI11. Part of options.h: programs do not call it.
#pragma once

#include <istream>
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
  std::vector<std::string> config_file;  // of --config; at most one is in order
  std::vector<std::string> problems;     // one line each
};

// `arguments` without the program's name.
[[nodiscard]] CommandLine ReadCommandLine(const OptionTable& table,
                                          std::vector<std::string> arguments);

struct ConfigFile {
  // Option name -> its texts: one, or the items of an array.
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> problems;  // one line each
};

// Flat TOML: `key = value`, strings quoted when they hold blanks or '#', arrays, sections (their
// name and '-' go before the keys), '#' comments. Strings are taken literally: no escapes.
[[nodiscard]] ConfigFile ReadConfigFile(std::istream& input);

}  // namespace fanline::daemon
