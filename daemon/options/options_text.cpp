#include "daemon/options/parsing.h"

#include <algorithm>

#include "daemon/options/options.h"

namespace fanline::daemon {
namespace {

std::string Padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string Usage(const std::vector<const OptionTable*>& path) {
  std::string usage = "Usage:";
  for (const OptionTable* table : path) usage += " " + table->name();
  usage += " [options]";
  for (const auto& option : path.back()->options()) {
    if (!option->positional()) continue;
    const std::string argument = option->Flag() + (IsList(option->target()) ? "..." : "");
    usage += option->required() ? " " + argument : " [" + argument + "]";
  }
  if (!path.back()->commands().empty()) usage += " COMMAND";
  return usage + "\n";
}

std::string Facts(const Option& option) {
  if (option.positional()) return option.required() ? "" : "        optional\n";
  const std::string& value = option.ShownDefault();
  const std::string range = option.RangeText();
  return "        " + option.EnvName() + (range.empty() ? "" : ", " + range) +
         (option.required() ? ", required" : ", default " + (value.empty() ? "empty" : value)) +
         "\n";
}

std::string Describe(const Option& option) {
  std::string head = "  " + option.Flag();
  if (IsBool(option.target())) {
    head += "[=true|false]";
  } else if (!option.positional()) {
    head += " " + option.ValueName();
  }
  return head + "\n        " + option.description() + "\n" + Facts(option);
}

std::string Section(const std::string& title, const OptionTable& table, bool positional) {
  std::string text;
  for (const auto& option : table.options()) {
    if (option->positional() == positional) text += Describe(*option);
  }
  return text.empty() ? text : "\n" + title + ":\n" + text;
}

std::string Commands(const OptionTable& table) {
  if (table.commands().empty()) return {};
  size_t width = 0;
  for (const auto& command : table.commands()) width = std::max(width, command->name().size());
  std::string text = "\nCommands:\n";
  for (const auto& command : table.commands()) {
    text += "  " + Padded(command->name(), width) + "  " + command->summary() + "\n";
  }
  return text;
}

constexpr const char* kBuiltIn = R"(
Always:
  --config FILE
        read `key = value` lines for what neither a flag nor the environment gives
        FANLINE_CONFIG
  --check-config
        print the effective values and exit: 0, or 78 with one line per problem
  -h, --help
  --version
)";

}  // namespace

std::string HelpText(const std::vector<const OptionTable*>& path) {
  const OptionTable& table = *path.back();
  std::string text = VersionText(*path.front());
  text += table.summary() + "\n\n" + Usage(path);
  text += Commands(table);
  text += Section("Arguments", table, true);
  text += Section("Options (a flag wins over the environment, that over the file)", table, false);
  for (auto outer = path.rbegin() + 1; outer != path.rend(); ++outer) {
    text += Section("Options of " + (*outer)->name(), **outer, false);
  }
  return text + kBuiltIn;
}

std::string VersionText(const OptionTable& program) {
  return program.name() + " " FANLINE_VERSION "\n";
}

std::string EffectiveText(const std::vector<EffectiveValue>& values,
                          const std::vector<std::string>& warnings) {
  size_t name_width = 0;
  size_t value_width = 0;
  for (const EffectiveValue& value : values) {
    name_width = std::max(name_width, value.name.size());
    value_width = std::max(value_width, value.value.size());
  }
  std::string text;
  for (const EffectiveValue& value : values) {
    text += Padded(value.name, name_width) + " = " + Padded(value.value, value_width) + "  (" +
            value.source + ")\n";
  }
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace fanline::daemon
