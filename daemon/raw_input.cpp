// What CLI11 2.1.2 would do by itself and we do not want, each tried: `--x=` takes the next
// argument as the value; `--x 1 2` takes both; `[a,b]` becomes two values; a '#' inside quotes
// ends the value, silently; a line of two characters is skipped.
#include "daemon/raw_input.h"

#include <CLI/CLI.hpp>
#include <sstream>
#include <string_view>

#include "daemon/nearest_name.h"
#include "daemon/options.h"

namespace fanline::daemon {
namespace {

// The table as CLI11 sees it: every option collects raw texts, every limit on their number is
// ours to check, so that all problems are reported together and in our words.
class CommandLineReader {
 public:
  explicit CommandLineReader(const OptionTable& table) : app_(table.summary(), table.name()) {
    app_.set_help_flag();
    app_.add_flag("-h,--help", line_.help);
    app_.add_flag("--version", line_.version);
    app_.add_flag("--check-config", line_.check_config);
    Collect(app_.add_option("--config", line_.config_file));
    Declare(app_, table);
  }

  CommandLine Read(std::vector<std::string> arguments) {
    std::vector<std::string> reversed = WithExplicitEmptyValues(arguments);
    std::reverse(reversed.begin(), reversed.end());
    try {
      app_.parse(std::move(reversed));
      Gather();
      RefuseVersionOfCommand();
      RefuseExtras();
    } catch (const CLI::ArgumentMismatch& error) {
      // The one that can still happen: a flag stands last, without its value.
      const std::string_view what = error.what();
      line_.problems.push_back(std::string(what.substr(0, what.find(':'))) + ": has no value");
    } catch (const CLI::ParseError& error) {
      line_.problems.emplace_back(error.what());
    }
    return std::move(line_);
  }

 private:
  struct Declared {
    const Option* option;
    CLI::Option* cli;
  };

  static CLI::Option* Collect(CLI::Option* option) {
    return option->expected(1)->allow_extra_args(false)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
  }

  void Declare(CLI::App& app, const OptionTable& table) {
    app.allow_extras();
    app.fallthrough();
    app.require_subcommand(0, 1);  // so that `publish timeline` has an argument "timeline"
    for (const auto& option : table.options()) {
      declared_.push_back({option.get(), Add(app, *option)});
    }
    for (const auto& command : table.commands()) {
      CLI::App* child = app.add_subcommand(command->name(), command->summary());
      child->set_help_flag();
      Declare(*child, *command);
    }
    tables_.emplace_back(&app, &table);
  }

  CLI::Option* Add(CLI::App& app, const Option& option) {
    std::vector<std::string>& texts = texts_[&option];
    if (option.positional()) {
      CLI::Option* added = Collect(app.add_option(option.name(), texts));
      return IsList(option.target()) ? added->allow_extra_args() : added;
    }
    // A flag of CLI11 takes its value after '=' only: `--yes 5` leaves 5 to the positionals.
    if (IsBool(option.target())) {
      return app.add_flag(option.Flag(), texts)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
    return Collect(app.add_option(option.Flag(), texts));
  }

  static std::vector<std::string> WithExplicitEmptyValues(const std::vector<std::string>& from) {
    std::vector<std::string> arguments;
    for (const std::string& argument : from) {
      const bool empty_value =
          argument.starts_with("--") && argument.find('=') == argument.size() - 1;
      arguments.push_back(empty_value ? argument.substr(0, argument.size() - 1) : argument);
      if (empty_value) arguments.emplace_back();
    }
    return arguments;
  }

  void Gather() {
    for (const Declared& declared : declared_) {
      if (declared.cli->count() == 0) continue;
      RefuseSwallowedFlags(declared);
      line_.values[declared.option] = declared.cli->results();
    }
    line_.path.push_back(TableOf(app_));
    for (const CLI::App* app = &app_; !app->get_subcommands().empty();) {
      app = app->get_subcommands().front();
      line_.path.push_back(TableOf(*app));
    }
  }

  // `--redis --window 9`: CLI11 takes --window for the value of --redis.
  void RefuseSwallowedFlags(const Declared& declared) {
    if (declared.option->positional()) return;
    for (const std::string& text : declared.cli->results()) {
      const bool is_flag = std::any_of(declared_.begin(), declared_.end(), [&](const Declared& d) {
        return text.starts_with("--") && text.substr(0, text.find('=')) == d.option->Flag();
      });
      if (!is_flag) continue;
      line_.problems.push_back(declared.option->Flag() + ": has no value (the next argument is " +
                               text + ")");
    }
  }

  const OptionTable* TableOf(const CLI::App& app) const {
    for (const auto& [known, table] : tables_) {
      if (known == &app) return table;
    }
    return nullptr;
  }

  // `delete --version 2` asks something of the post: a version of the program would answer with
  // success what was not done.
  void RefuseVersionOfCommand() {
    if (!line_.version || line_.path.size() == 1) return;
    line_.version = false;
    std::string command;
    for (size_t i = 1; i < line_.path.size(); ++i) command += " " + line_.path[i]->name();
    line_.problems.push_back("--version: is no option of" + command + "; " +
                             line_.path.front()->name() + " --version names the program's");
  }

  // An unknown flag's value looks like a stray argument: only the flags are named then.
  void RefuseExtras() {
    std::vector<std::string> strays;
    for (const std::string& extra : app_.remaining(true)) {
      if (extra.starts_with('-') && extra.size() > 1) {
        if (extra != "--") line_.problems.push_back(UnknownFlag(extra));
      } else {
        strays.push_back(extra);
      }
    }
    if (!line_.problems.empty()) return;
    for (const std::string& stray : strays) line_.problems.push_back(StrayArgument(stray));
  }

  std::string UnknownFlag(const std::string& extra) const {
    const std::string flag = extra.substr(0, extra.find('='));
    std::vector<std::string> known{"--help", "--check-config", "--config"};
    if (line_.path.size() == 1) known.emplace_back("--version");
    for (const OptionTable* table : line_.path) {
      for (const auto& option : table->options()) known.push_back(option->Flag());
    }
    return "unknown option " + flag + DidYouMean(flag, known);
  }

  std::string StrayArgument(const std::string& stray) const {
    const auto& commands = line_.path.back()->commands();
    if (commands.empty()) return "unexpected argument \"" + stray + "\"";
    std::vector<std::string> known;
    for (const auto& command : commands) known.push_back(command->name());
    return "unknown command \"" + stray + "\"" + DidYouMean(stray, known);
  }

  CLI::App app_;
  CommandLine line_;
  std::vector<Declared> declared_;
  std::vector<std::pair<const CLI::App*, const OptionTable*>> tables_;
  std::map<const Option*, std::vector<std::string>> texts_;  // CLI11 wants a place to convert to
};

struct Line {
  std::string_view text;  // without its comment; a '#' inside quotes begins none
  bool open_quote = false;
};

Line Uncommented(std::string_view line) {
  char quote = '\0';
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == '\0' && c == '#') return {line.substr(0, at), false};
    if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    }
  }
  return {line, quote != '\0'};
}

std::string_view Trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// Whether an array goes on in the line behind this one; `open`: it did so in this one.
bool LeavesArrayOpen(std::string_view text, bool open) {
  if (text.empty()) return open;
  const size_t equals = text.find('=');
  const bool begins = equals != text.npos && Trimmed(text.substr(equals + 1)).starts_with('[');
  return (open || begins) && !text.ends_with(']');
}

// What CLI11 would take for something else (a key alone for key = true), or for nothing, without a
// word. The line is not shown: it may be a password.
std::string WrongWith(std::string_view text, bool open_quote, bool in_array) {
  if (open_quote) return "a quote is not closed";
  const bool section = text.starts_with('[') && text.ends_with(']');
  if (text.empty() || in_array || section) return {};
  return text.size() < 3 || text.find('=') == text.npos ? "expected key = value" : "";
}

// The file as CLI11 may read it: without the lines that are wrong, an array in one line.
std::string Cleaned(std::istream& input, std::vector<std::string>& problems) {
  std::string cleaned;
  std::string line;
  bool in_array = false;
  for (size_t number = 1; std::getline(input, line); ++number) {
    const Line read = Uncommented(line);
    const std::string_view text = Trimmed(read.text);
    const std::string wrong = WrongWith(text, read.open_quote, in_array);
    in_array = LeavesArrayOpen(text, in_array);
    if (wrong.empty()) {
      cleaned += text;
    } else {
      problems.push_back("line " + std::to_string(number) + ": " + wrong);
    }
    cleaned += in_array ? ' ' : '\n';
  }
  if (input.bad()) problems.emplace_back("cannot be read");
  return cleaned;
}

std::string OptionNameOf(const CLI::ConfigItem& item) {
  std::string name;
  for (const std::string& section : item.parents) name += section + "-";
  return name + item.name;
}

}  // namespace

CommandLine ReadCommandLine(const OptionTable& table, std::vector<std::string> arguments) {
  return CommandLineReader(table).Read(std::move(arguments));
}

ConfigFile ReadConfigFile(std::istream& input) {
  ConfigFile file;
  std::istringstream cleaned(Cleaned(input, file.problems));
  CLI::ConfigTOML reader;
  reader.comment('\x01');  // ours are gone; any '#' left belongs to a value
  for (const CLI::ConfigItem& item : reader.from_config(cleaned)) {
    if (item.name == "++" || item.name == "--") continue;  // a section opens or closes
    const std::string name = OptionNameOf(item);
    if (!file.values.emplace(name, item.inputs).second) {
      file.problems.push_back(name + ": given twice");
    }
  }
  return file;
}

}  // namespace fanline::daemon
