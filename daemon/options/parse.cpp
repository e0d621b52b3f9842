// How an OptionTable is parsed: gathers the sources, then settles option by option.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "daemon/options/options.h"
#include "daemon/options/parsing.h"
#include "daemon/options/redact.h"

namespace fanline::daemon {
namespace {

// ---- the configuration file -----------------------------------------------------------------
// `key = value` lines and '#' comments. A value with a '#' stands in quotes, which know no escapes.

struct ConfigFile {
  std::map<std::string, std::string> values;  // by the option's name
  std::vector<std::string> problems;  // one line each; a value is not shown, it may be a password
};

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

// ---- the sources together -------------------------------------------------------------------

void CollectFlags(const OptionTable& table, std::vector<const Option*>& flags) {
  for (const auto& option : table.options()) {
    if (!option->positional()) flags.push_back(option.get());
  }
  for (const auto& command : table.commands()) CollectFlags(*command, flags);
}

// One run of Parse.
class Parsing {
 public:
  Parsing(const OptionTable& table, const Environment& env) : table_(table), env_(env) {
    CollectFlags(table, known_);
  }

  Parsed Run(const std::vector<std::string>& arguments) {
    line_ = ReadCommandLine(table_, arguments);
    for (const std::string& problem : line_.problems) Usage(problem);
    if (line_.help) return Print(HelpText(line_.path));
    if (line_.version) return Print(VersionText(table_));
    ReadFile();
    WarnOfUnknownVariables();
    for (const OptionTable* table : line_.path) Settle(*table);
    RequireCommand();
    if (problems_.empty()) AskRules();
    return Finish();
  }

 private:
  void Usage(const std::string& problem) {
    problems_.push_back(problem);
    usage_error_ = true;
  }
  void Config(const std::string& problem) { problems_.push_back(problem); }

  static Parsed Print(std::string text) { return {.exit_code = 0, .out = std::move(text)}; }

  // An empty variable counts as not set: that is how deployment templates write "nothing".
  const std::string* Variable(const std::string& name) const {
    const auto found = env_.find(name);
    return found == env_.end() || found->second.empty() ? nullptr : &found->second;
  }

  std::string FilePath() {
    if (line_.config_file.size() > 1) Usage("--config: given twice");
    if (!line_.config_file.empty()) return line_.config_file.front();
    const std::string* variable = Variable(EnvNameOf("config"));
    return variable ? *variable : std::string();
  }

  void ReadFile() {
    file_path_ = FilePath();
    if (file_path_.empty()) return;
    std::ifstream input(file_path_);
    if (!input) return Config(file_path_ + ": cannot be read");
    file_ = ReadConfigFile(input);
    for (const std::string& problem : file_.problems) Config(file_path_ + ": " + problem);
    RefuseUnknownKeys();
  }

  // Keys of commands that are not running are known too: one file serves all commands.
  void RefuseUnknownKeys() {
    for (const auto& [key, value] : file_.values) {
      const bool known =
          std::any_of(known_.begin(), known_.end(),
                      [&key = key](const auto* option) { return option->name() == key; });
      if (!known) Config(file_path_ + ": unknown key " + key);
    }
  }

  void WarnOfUnknownVariables() {
    for (const auto& [name, value] : env_) {
      if (!name.starts_with(kEnvPrefix) || name == EnvNameOf("config")) continue;
      const bool known =
          std::any_of(known_.begin(), known_.end(),
                      [&name = name](const auto* option) { return option->EnvName() == name; });
      if (!known) warnings_.push_back(name + " is set, and is no option of " + table_.name());
    }
  }

  void Settle(const OptionTable& table) {
    for (const auto& option : table.options()) {
      const std::string source = SettleOne(*option, &table != &table_);
      effective_.push_back({option->name(), option->Shown(), source});
    }
  }

  // Stores the value of the strongest source and returns that source's name.
  std::string SettleOne(const Option& option, bool of_command) {
    if (const auto given = line_.values.find(&option); given != line_.values.end()) {
      if (!StoreOrRefuse(option, given->second, option.Flag())) usage_error_ = true;
      return "command line";
    }
    if (option.positional()) return RequireOrDefault(option, of_command);
    if (const std::string* variable = Variable(option.EnvName())) {
      StoreOrRefuse(option, {*variable}, option.EnvName());
      return option.EnvName();
    }
    if (const auto item = file_.values.find(option.name()); item != file_.values.end()) {
      StoreOrRefuse(option, {item->second}, file_path_ + ": " + option.name());
      return file_path_;
    }
    return RequireOrDefault(option, of_command);
  }

  std::string RequireOrDefault(const Option& option, bool of_command) {
    // A problem on the command line may be why a value is missing, so that is not reported then.
    if (!option.required() || !line_.problems.empty()) return "default";
    const std::string problem = option.Flag() + ": is required";
    if (option.positional()) {
      Usage(problem);
    } else if (of_command) {
      Usage(problem + " (or " + option.EnvName() + ")");
    } else {
      Config(problem + " (or " + option.EnvName() + ")");
    }
    return "default";
  }

  bool StoreOrRefuse(const Option& option, const std::vector<std::string>& texts,
                     const std::string& source) {
    const std::string wrong = option.Store(texts);
    if (wrong.empty()) return true;
    std::string shown;
    for (const std::string& text : texts) shown += (shown.empty() ? "" : " ") + text;
    shown = option.secret() ? std::string(kMasked) : Redact(shown);
    problems_.push_back(source + ": \"" + shown + "\" " + wrong);
    return false;
  }

  void RequireCommand() {
    const auto& commands = line_.path.back()->commands();
    if (commands.empty() || !problems_.empty()) return;
    std::string names;
    for (const auto& command : commands) names += " " + command->name();
    Usage("which command? One of:" + names);
  }

  void AskRules() {
    for (const OptionTable* table : line_.path) {
      for (const auto& rule : table->checks()) {
        const std::string wrong = rule();
        if (!wrong.empty()) Config(wrong);
      }
    }
  }

  Parsed Finish() {
    Parsed parsed;
    for (size_t i = 1; i < line_.path.size(); ++i) {
      parsed.command += (i > 1 ? " " : "") + line_.path[i]->name();
    }
    for (const std::string& problem : problems_)
      parsed.err += table_.name() + ": " + problem + "\n";
    if (!problems_.empty()) {
      parsed.exit_code = usage_error_ && !line_.check_config ? kExitUsage : kExitConfig;
      if (usage_error_) parsed.err += "See " + table_.name() + " --help.\n";
    } else if (line_.check_config) {
      parsed.exit_code = 0;
      parsed.out = EffectiveText(effective_, warnings_);
    }
    parsed.warnings = std::move(warnings_);
    return parsed;
  }

  const OptionTable& table_;
  const Environment& env_;
  std::vector<const Option*> known_;  // all with a flag, in all commands
  CommandLine line_;
  std::string file_path_;
  ConfigFile file_;
  std::vector<EffectiveValue> effective_;
  std::vector<std::string> warnings_;
  std::vector<std::string> problems_;
  bool usage_error_ = false;
};

}  // namespace

Environment ProcessEnvironment() {
  Environment env;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == text.npos) continue;
    env.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return env;
}

Parsed OptionTable::Parse(int argc, const char* const* argv, const Environment& env) const {
  const int first = std::min(argc, 1);  // past the program's name
  return Parsing(*this, env).Run(std::vector<std::string>(argv + first, argv + argc));
}

Parsed OptionTable::ParseOrExit(int argc, const char* const* argv) const {
  Parsed parsed = Parse(argc, argv, ProcessEnvironment());
  if (parsed.proceed()) return parsed;
  std::fputs(parsed.out.c_str(), stdout);
  std::fputs(parsed.err.c_str(), stderr);
  std::exit(*parsed.exit_code);
}

}  // namespace fanline::daemon
