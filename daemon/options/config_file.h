// Splits a configuration file into names and texts, without interpreting the values. Part of
// options.h: programs do not call it.
//
// `key = value` lines and '#' comments. A value with a '#' stands in quotes, which know no escapes.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace fanline::daemon {

struct ConfigFile {
  std::map<std::string, std::string> values;  // by the option's name
  std::vector<std::string> problems;  // one line each; a value is not shown, it may be a password
};

[[nodiscard]] ConfigFile ReadConfigFile(std::istream& input);

}  // namespace fanline::daemon
