// One option table per program: the flags, the environment, the configuration file, --help and
// --check-config all come from it, so that they cannot disagree.
//
//   Config config;                                        // defaults are its initial values
//   OptionTable table("fanline-pusher", "hints to live timelines");
//   table.Add("redis", &config.redis, "where the timelines live").Required();
//   table.Add("keys-per-call", &config.keys_per_call, "most keys of one script call")
//       .Range(1, 5000);
//   table.ParseOrExit(argc, argv);
//
// An option `keys-per-call` is the flag --keys-per-call, the environment variable
// FANLINE_KEYS_PER_CALL and the key `keys-per-call` of the file; in that order, then the default.
// The file has `key = value` lines. An undeclared name is refused. An undeclared variable is only
// listed by --check-config, since several programs share the environment.
//
// Every table also answers --help, --version, --check-config and --config FILE (FANLINE_CONFIG). A
// command may have an option `version` of its own.
//
// A program with several commands declares a table for each; options of the outer table may stand
// before or after the command:
//
//   OptionTable& publish = table.AddCommand("publish", "publishes one post");
//   publish.Add("author", &author, "who posts").Required();
//   if (table.ParseOrExit(argc, argv).command == "publish") ...
//
// Not thread-safe; values are written by Parse only (parse.cpp).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/options/option_value.h"
#include "fanline/base/secret.h"
#include "fanline/base/time.h"

namespace fanline::daemon {

// Exit codes of sysexits.h that our programs use.
inline constexpr int kExitUsage = 64;     // the command line is wrong
inline constexpr int kExitSoftware = 70;  // a fault of the program
inline constexpr int kExitTempFail = 75;  // left work behind; it will be done again
inline constexpr int kExitConfig =
    78;  // the environment, the file or a combination of values is wrong

// "FANLINE_KEYS_PER_CALL" of "keys-per-call".
inline constexpr std::string_view kEnvPrefix = "FANLINE_";
[[nodiscard]] std::string EnvNameOf(std::string_view option);

using Environment = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] Environment ProcessEnvironment();

// One declared option. The setters refine the declaration and chain.
class Option {
 public:
  Option(std::string name, OptionTarget target, std::string description, bool positional);

  // Inclusive. A duration is bounded by durations (Range(1ms, 1min)), all else by numbers.
  Option& Range(int64_t min, int64_t max);
  Option& Range(Duration min, Duration max);
  // For a string: the only texts it may have.
  Option& OneOf(std::vector<std::string> texts);
  // What a number counts, for --help: "bytes", "posts".
  Option& Unit(std::string unit);
  // Never shown: neither value nor default, not even when it is refused.
  Option& Secret();
  // Some source must give a value. A positional is required unless Optional().
  Option& Required();
  Option& Optional();

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  const OptionTarget& target() const { return target_; }
  bool positional() const { return positional_; }
  bool required() const { return required_; }
  bool secret() const { return secret_; }

  // "--keys-per-call"; a positional is "<name>".
  std::string Flag() const;
  std::string EnvName() const { return EnvNameOf(name_); }
  // The placeholder of --help: its unit, its texts or its type.
  std::string ValueName() const;
  // "1..512"; empty if any value of its type will do.
  std::string RangeText() const;
  // The present value, masked if secret, URLs redacted: fit to be printed.
  std::string Shown() const;
  // As Shown, for the value it had when it was declared.
  const std::string& ShownDefault() const { return shown_default_; }

  // Stores the value, or returns what is wrong with it (as StoreValue does).
  [[nodiscard]] std::string Store(const std::vector<std::string>& texts) const;

 private:
  std::string name_;
  std::string description_;
  std::string unit_;
  std::string shown_default_;
  OptionTarget target_;
  std::optional<ValueRange> range_;
  std::vector<std::string> one_of_;
  bool positional_;
  bool required_;
  bool secret_ = false;
};

// What Parse found: proceed, or print and leave.
struct Parsed {
  std::optional<int> exit_code;       // none: proceed
  std::string out;                    // for stdout: help, version, effective values
  std::string err;                    // for stderr: one line per problem
  std::string command;                // if the program has commands: "publish", "dlq replay"
  std::vector<std::string> warnings;  // FANLINE_* variables this program does not know

  bool proceed() const { return !exit_code.has_value(); }
};

class OptionTable {
 public:
  OptionTable(std::string program, std::string summary);
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  // Declares an option; names are lower case words joined by '-'. A name stands once on the way
  // from the outer table to a command (checked). The reference lives as long as the table; `target`
  // must too.
  Option& Add(std::string name, OptionTarget target, std::string description);
  // Declares `name`, which is never shown, and `name`-file, the path of a file that holds the
  // secret instead. Refused: both of them, from whatever sources, and a file that cannot be read
  // now.
  void AddSecret(const std::string& name, Secret* target, const std::string& description);
  // An argument without a flag, in the order of declaration; only the command line gives it. A list
  // takes all the rest, so it comes last.
  Option& AddPositional(std::string name, OptionTarget target, std::string description);
  // A command, which may have commands itself. One of the outer table's commands must then be
  // given.
  OptionTable& AddCommand(std::string name, std::string summary);
  // A rule about several options, called after all are stored. It returns what is wrong, or "".
  void Check(std::function<std::string()> rule);

  // Reads everything and writes the targets. Problems: exit code 64 if one of them is on the
  // command line, else 78 (with --check-config always 78); the targets are then partly written.
  [[nodiscard]] Parsed Parse(int argc, const char* const* argv, const Environment& env) const;

  // Parse with the process's environment; prints and exits unless the program shall proceed.
  Parsed ParseOrExit(int argc, const char* const* argv) const;

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  const std::vector<std::unique_ptr<Option>>& options() const { return options_; }
  const std::vector<std::unique_ptr<OptionTable>>& commands() const { return commands_; }
  const std::vector<std::function<std::string()>>& checks() const { return checks_; }

 private:
  OptionTable(const OptionTable* outer, std::string name, std::string summary);
  void RefuseSecondDeclaration(const std::string& name) const;

  const OptionTable* outer_ = nullptr;
  std::string name_;
  std::string summary_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<OptionTable>> commands_;
  std::vector<std::function<std::string()>> checks_;
};

}  // namespace fanline::daemon
