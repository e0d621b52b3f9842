// feedctl: the operator's tool. A command is a file in commands/, and its row here.
#include <cstdio>
#include <map>
#include <string>

#include "daemon/run/main_guard.h"
#include "fanline/base/misconfigured.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/failure.h"

namespace fanline::feedctl {

// Each is defined in a file in commands/.
extern const Row kDoctor;
extern const Row kInit;
extern const Row kMigrate;
extern const Row kTopicsCreate;
extern const Row kImport;
extern const Row kPublish;
extern const Row kAuthorMode;
extern const Row kFollow;
extern const Row kRelationsShow;
extern const Row kRelationsMode;
extern const Row kRelationsReconciler;
extern const Row kRelationsCounters;
extern const Row kRelationsRepairs;
extern const Row kRelationsRescan;
extern const Row kRelationsRestoreForward;
extern const Row kAudit;
extern const Row kRanges;
extern const Row kTimelinesDrop;
extern const Row kDlqList;
extern const Row kDlqReplay;

namespace {

constexpr Row kAuthor{"author", "says how an author's posts reach timelines"};
constexpr Row kTopics{"topics", "creates what Kafka needs"};
constexpr Row kTimelines{"timelines", "looks after what Redis holds"};
constexpr Row kRelations{"relations", "looks at who follows whom, and says how it is kept right"};
constexpr Row kDlq{"dlq", "looks at what could not be processed, and has it processed again"};

// In the order of --help; a group comes before its commands.
constexpr const Row* kCommands[] = {
    // Setting up
    &kInit, &kMigrate, &kTopics, &kTopicsCreate, &kImport,
    // Looking after it
    &kDoctor,
    // Posts
    &kPublish, &kAuthor, &kAuthorMode,
    // Relations
    &kFollow, &kRelations, &kRelationsShow, &kRelationsMode, &kRelationsReconciler,
    &kRelationsCounters, &kRelationsRepairs, &kRelationsRescan, &kRelationsRestoreForward,
    // Timelines
    &kAudit, &kRanges, &kTimelines, &kTimelinesDrop,
    // Dead letters
    &kDlq, &kDlqList, &kDlqReplay};

}  // namespace
}  // namespace fanline::feedctl

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
  for (const Row* row : kCommands) {
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
