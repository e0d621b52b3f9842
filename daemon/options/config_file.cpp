#include "daemon/options/config_file.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace fanline::daemon {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// What stands in quotes, or before a comment. None: quotes are not closed, or not the whole value.
std::optional<std::string_view> ValueOf(std::string_view text) {
  const bool quoted = text.starts_with('"') || text.starts_with('\'');
  if (!quoted) return Trimmed(text.substr(0, text.find('#')));
  const size_t end = text.find(text.front(), 1);
  if (end == text.npos) return std::nullopt;
  const std::string_view rest = Trimmed(text.substr(end + 1));
  if (!rest.empty() && rest.front() != '#') return std::nullopt;
  return text.substr(1, end - 1);
}

// Returns what is wrong with the line.
std::string Take(std::string_view line, ConfigFile& file) {
  if (line.empty() || line.front() == '#') return "";
  const size_t equals = std::min(line.find('='), line.find('#'));
  if (equals == line.npos || line[equals] != '=') return "expected key = value";
  const std::string name(Trimmed(line.substr(0, equals)));
  const auto value = ValueOf(Trimmed(line.substr(equals + 1)));
  if (!value) return "a quote is not closed, or something follows it";
  return file.values.emplace(name, *value).second ? "" : name + " is given twice";
}

}  // namespace

ConfigFile ReadConfigFile(std::istream& input) {
  ConfigFile file;
  size_t number = 0;
  for (std::string line; std::getline(input, line);) {
    ++number;
    const std::string wrong = Take(Trimmed(line), file);
    if (!wrong.empty()) file.problems.push_back("line " + std::to_string(number) + ": " + wrong);
  }
  if (input.bad()) file.problems.emplace_back("cannot be read");
  return file;
}

}  // namespace fanline::daemon
