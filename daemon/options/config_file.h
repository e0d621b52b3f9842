// Splits a configuration file into names and texts, without interpreting the values. Part of
// options.h: programs do not call it.
//
// Flat TOML: `key = value`, strings quoted when they hold blanks or '#', arrays, sections (their
// name and '-' go before the keys), '#' comments. Strings are taken literally: no escapes.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace fanline::daemon {

struct ConfigFile {
  // Option name -> its texts: one, or the items of an array.
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> problems;  // one line each; a value is not shown, it may be a password
};

[[nodiscard]] ConfigFile ReadConfigFile(std::istream& input);

}  // namespace fanline::daemon
