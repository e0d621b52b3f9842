#include "feedctl/program.h"

#include <cstdio>
#include <stdexcept>

#include "feedctl/failure.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kSummary =
    "sets up, feeds, reads and audits a Fanline installation\n"
    "\n"
    "Exit codes: 0 done; 1 what was compared is wrong; 64 wrong command line; 65 wrong input;\n"
    "66 no such file; 67 nobody knows this user; 69 a service is away; 70 a fault of feedctl;\n"
    "74 reading or writing failed; 75 not all was done, run it again; 78 wrong configuration;\n"
    "130 interrupted";

// A pipe that was closed or a full disk shows here at the latest.
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
  } catch (const std::invalid_argument& refused) {  // a property that librdkafka does not take
    std::fprintf(stderr, "feedctl: --kafka-properties: %s\n", refused.what());
    return kExitConfig;
  }
}

}  // namespace

Program::Program() : table_("feedctl", kSummary) {}

daemon::OptionTable& Program::TableOf(const std::string& name, const std::string& summary) {
  const size_t blank = name.find(' ');
  if (blank == std::string::npos) return table_.AddCommand(name, summary);
  return groups_.at(name.substr(0, blank))->AddCommand(name.substr(blank + 1), summary);
}

void Program::AddGroup(const std::string& name, const std::string& summary) {
  groups_[name] = &table_.AddCommand(name, summary);
}

void Program::Add(const std::string& name, const std::string& summary, MakeCommand make) {
  commands_[name] = make(TableOf(name, summary), settings_);
}

int Program::Main(int argc, char** argv) {
  const daemon::Parsed parsed = table_.ParseOrExit(argc, argv);
  return RunGuarded(*commands_.at(parsed.command));
}

}  // namespace fanline::feedctl
