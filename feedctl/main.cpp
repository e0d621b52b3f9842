// feedctl: the operator's tool. Its commands are in commands/.
#include <cstdio>
#include <map>
#include <string>

#include "daemon/run/main_guard.h"
#include "fanline/base/misconfigured.h"
#include "feedctl/commands/commands.h"
#include "feedctl/support/failure.h"

using namespace fanline;
using namespace fanline::feedctl;

namespace {

constexpr const char* kSummary =
    "sets up, feeds, reads and audits a Fanline installation\n"
    "\n"
    "Exit codes: 0 done; 1 a comparison found differences; 64 wrong command line; 65 wrong input;\n"
    "66 no such file; 67 unknown user; 69 a service is away; 70 an error in feedctl;\n"
    "74 reading or writing failed; 75 not all was done, run it again; 78 wrong configuration;\n"
    "130 interrupted";

// Detects a closed pipe or a full disk.
int WithOutputWritten(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "feedctl: the output cannot be written\n");
  return kExitIo;
}

int RunGuarded(Command& command) {
  Interrupt interrupt;
  try {
    const int code = command.Run(interrupt);
    return interrupt.requested() ? kExitInterrupted : WithOutputWritten(code);
  } catch (const Failure& failure) {
    std::fflush(stdout);
    std::fprintf(stderr, "feedctl: %s\n", failure.what());
    return interrupt.requested() ? kExitInterrupted : failure.exit_code();
  } catch (const Misconfigured& refused) {  // properties that librdkafka refuses
    std::fprintf(stderr, "feedctl: --kafka-properties: %s\n", refused.what());
    return kExitConfig;
  }
}

int Main(int argc, char** argv) {
  Settings settings;
  daemon::OptionTable table("feedctl", kSummary);
  std::map<std::string, daemon::OptionTable*> groups;  // "topics"
  std::map<std::string, std::unique_ptr<Command>> commands;
  for (const Row* row : Commands()) {
    const std::string name = row->name;
    const size_t blank = name.find(' ');
    daemon::OptionTable& outer = blank == name.npos ? table : *groups.at(name.substr(0, blank));
    daemon::OptionTable& own =
        outer.AddCommand(name.substr(blank == name.npos ? 0 : blank + 1), row->summary);
    if (row->make == nullptr) {
      groups[name] = &own;
    } else {
      commands[name] = row->make(own, settings);
    }
  }
  const daemon::Parsed parsed = table.ParseOrExit(argc, argv);
  return RunGuarded(*commands.at(parsed.command));
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("feedctl", [&] { return Main(argc, argv); });
}
