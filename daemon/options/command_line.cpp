#include "daemon/options/parsing.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "daemon/options/options.h"

namespace fanline::daemon {
namespace {

const Option* FindFlag(const OptionTable& table, const std::string& flag) {
  for (const auto& option : table.options()) {
    if (!option->positional() && option->Flag() == flag) return option.get();
  }
  return nullptr;
}

// Looks into all commands, given or not.
bool AnyHasFlag(const OptionTable& table, const std::string& flag) {
  const auto& commands = table.commands();
  return FindFlag(table, flag) != nullptr ||
         std::any_of(commands.begin(), commands.end(),
                     [&](const auto& command) { return AnyHasFlag(*command, flag); });
}

// A number below zero is an argument.
bool LooksLikeAFlag(const std::string& argument) {
  return argument.size() > 1 && argument[0] == '-' &&
         std::isdigit(static_cast<unsigned char>(argument[1])) == 0;
}

class Reader {
 public:
  Reader(const OptionTable& program, const std::vector<std::string>& arguments)
      : program_(program), arguments_(arguments) {
    line_.path.push_back(&program);
  }

  CommandLine Read() {
    bool arguments_only = false;
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      if (arguments_only) {
        TakeArgument(argument);
      } else if (argument == "--") {
        arguments_only = true;
      } else if (LooksLikeAFlag(argument)) {
        TakeFlag(argument);
      } else if (!EnterCommand(argument)) {
        TakeArgument(argument);
      }
    }
    for (const std::string& flag : unknown_) line_.problems.push_back("unknown option " + flag);
    // The value of an unknown flag looks like a stray argument: only the flags are named then.
    if (!line_.problems.empty()) strays_.clear();
    for (const std::string& stray : strays_) line_.problems.push_back(StrayArgument(stray));
    return std::move(line_);
  }

 private:
  void TakeFlag(const std::string& argument) {
    const size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    std::optional<std::string> value;
    if (equals != argument.npos) value = argument.substr(equals + 1);
    const Option* option = nullptr;  // the innermost command's wins
    for (const OptionTable* table : line_.path) {
      if (const Option* found = FindFlag(*table, flag)) option = found;
    }
    if (option == nullptr && TakeBuiltIn(flag, value)) return;
    if (option == nullptr && flag != "--config") return unknown_.push_back(flag);
    if (!value && option != nullptr && IsBool(option->target())) value = "true";
    if (!value) value = NextValue(flag);
    if (!value) return;
    (option == nullptr ? line_.config_file : line_.values[option]).push_back(*value);
  }

  bool TakeBuiltIn(const std::string& flag, const std::optional<std::string>& value) {
    const bool help = flag == "-h" || flag == "--help";
    if (!help && flag != "--version" && flag != "--check-config") return false;
    (help ? line_.help : flag == "--version" ? line_.version : line_.check_config) = true;
    if (value) line_.problems.push_back(flag + ": takes no value");
    return true;
  }

  // If the next argument is a known flag, the value was forgotten.
  std::optional<std::string> NextValue(const std::string& flag) {
    if (next_ == arguments_.size()) {
      line_.problems.push_back(flag + ": has no value");
      return std::nullopt;
    }
    const std::string& text = arguments_[next_];
    const std::string next_flag = text.substr(0, text.find('='));  // its value may be a password
    if (AnyHasFlag(program_, next_flag)) {
      line_.problems.push_back(flag + ": has no value (the next argument is " + next_flag + ")");
      return std::nullopt;
    }
    ++next_;
    return text;
  }

  bool EnterCommand(const std::string& argument) {
    for (const auto& command : line_.path.back()->commands()) {
      if (command->name() != argument) continue;
      line_.path.push_back(command.get());
      return true;
    }
    return false;
  }

  // For the first positional that has room; a list takes all that are left.
  void TakeArgument(const std::string& argument) {
    for (const auto& option : line_.path.back()->options()) {
      if (!option->positional()) continue;
      if (line_.values.contains(option.get()) && !IsList(option->target())) continue;
      return line_.values[option.get()].push_back(argument);
    }
    const bool flag = argument.size() > 1 && argument[0] == '-';
    (flag ? unknown_ : strays_).push_back(argument);
  }

  std::string StrayArgument(const std::string& stray) const {
    const bool command = !line_.path.back()->commands().empty();
    return (command ? "unknown command \"" : "unexpected argument \"") + stray + "\"";
  }

  const OptionTable& program_;
  const std::vector<std::string>& arguments_;
  size_t next_ = 0;
  CommandLine line_;
  std::vector<std::string> unknown_, strays_;
};

}  // namespace

CommandLine ReadCommandLine(const OptionTable& program, const std::vector<std::string>& arguments) {
  return Reader(program, arguments).Read();
}

}  // namespace fanline::daemon
