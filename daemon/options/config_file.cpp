#include "daemon/options/config_file.h"

#include <algorithm>
#include <string_view>

namespace fanline::daemon {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The place of the first `stop` outside of quotes, or npos. *open: a quote is not closed.
size_t FindUnquoted(std::string_view text, char stop, bool* open = nullptr) {
  char quote = '\0';
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == '\0' && c == stop) return at;
    if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    }
  }
  if (open != nullptr) *open = quote != '\0';
  return text.npos;
}

bool LeavesArrayOpen(std::string_view assignment) {
  const std::string_view value = Trimmed(assignment.substr(assignment.find('=') + 1));
  return value.starts_with('[') && !value.ends_with(']');
}

// The items of an array, or of a value that is written like one without its brackets.
std::vector<std::string> ItemsOf(std::string_view value) {
  const bool array = value.starts_with('[');
  if (array) value = Trimmed(value.substr(1, value.size() - 2));
  const char separator = array || FindUnquoted(value, ',') != value.npos ? ',' : ' ';
  std::vector<std::string> items;
  if (!array && value.empty()) items.emplace_back();
  while (!value.empty()) {
    const size_t end = std::min(FindUnquoted(value, separator), value.size());
    std::string_view item = Trimmed(value.substr(0, end));
    const bool quoted =
        item.size() > 1 && (item[0] == '"' || item[0] == '\'') && item.back() == item[0];
    if (!item.empty()) items.emplace_back(quoted ? item.substr(1, item.size() - 2) : item);
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return items;
}

class Reader {
 public:
  ConfigFile Read(std::istream& input) {
    for (std::string line; std::getline(input, line);) {
      ++number_;
      bool open_quote = false;
      const size_t comment = FindUnquoted(line, '#', &open_quote);
      if (open_quote) {
        Refuse("a quote is not closed");
      } else {
        Take(Trimmed(std::string_view(line).substr(0, comment)));
      }
    }
    if (!array_.empty()) Refuse("an array is not closed");
    if (input.bad()) file_.problems.emplace_back("cannot be read");
    return std::move(file_);
  }

 private:
  void Take(std::string_view text) {
    if (text.empty()) return;
    if (!array_.empty()) {
      Assign(array_ + " " + std::string(text));
    } else if (text.starts_with('[') && text.ends_with(']')) {
      section_ = std::string(Trimmed(text.substr(1, text.size() - 2))) + "-";
    } else if (text.size() < 3 || text.find('=') == text.npos) {
      Refuse("expected key = value");
    } else {
      Assign(std::string(text));
    }
  }

  void Assign(const std::string& assignment) {
    array_ = LeavesArrayOpen(assignment) ? assignment : std::string();
    if (!array_.empty()) return;  // the array goes on in the next line
    const std::string_view text = assignment;
    const size_t equals = text.find('=');
    std::string name = section_ + std::string(Trimmed(text.substr(0, equals)));
    std::replace(name.begin(), name.end(), '.', '-');
    if (!file_.values.emplace(name, ItemsOf(Trimmed(text.substr(equals + 1)))).second) {
      file_.problems.push_back(name + ": given twice");
    }
  }

  void Refuse(const std::string& what) {
    file_.problems.push_back("line " + std::to_string(number_) + ": " + what);
  }

  ConfigFile file_;
  size_t number_ = 0;
  std::string section_;  // with its '-'
  std::string array_;    // an assignment that goes on in the next line
};

}  // namespace

ConfigFile ReadConfigFile(std::istream& input) { return Reader().Read(input); }

}  // namespace fanline::daemon
