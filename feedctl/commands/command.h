// One command of feedctl. Its constructor declares its options in a table; it runs at most once.
#pragma once

#include <memory>

#include "daemon/options/options.h"
#include "feedctl/support/interrupt.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

class Command {
 public:
  explicit Command(Settings& settings) : settings_(settings) {}
  // With --json.
  Command(Settings& settings, daemon::OptionTable& table) : settings_(settings) {
    table.Add("json", &json_, "print the result as one JSON object");
  }
  virtual ~Command() = default;
  // Prints its result to stdout and returns the exit code; throws Failure.
  virtual int Run(Interrupt& interrupt) = 0;

 protected:
  Settings& settings_;
  bool json_ = false;
};

// A command's row in the table. `make` declares its options; the settings outlive the command. A
// group of commands has no `make`.
struct Row {
  const char* name;  // "topics create" belongs to the group "topics"
  const char* summary;
  std::unique_ptr<Command> (*make)(daemon::OptionTable& table, Settings& settings) = nullptr;
};

template <typename T>
constexpr Row RowOf(const char* name, const char* summary) {
  return {name, summary,
          [](daemon::OptionTable& table, Settings& settings) -> std::unique_ptr<Command> {
            return std::make_unique<T>(table, settings);
          }};
}

}  // namespace fanline::feedctl
