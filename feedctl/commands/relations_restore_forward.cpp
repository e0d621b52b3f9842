// feedctl relations restore-forward: rebuilds the forward rows of a shard that was wiped, or
// restored from an old backup, from the reverse rows of all shards. Safe while daemons run.
#include <cstdio>

#include "daemon/observe/log.h"
#include "fanline/base/mono_now.h"
#include "fanline/base/number.h"
#include "feedctl/commands/command.h"
#include "feedctl/relations/forward_restore.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kNotRestored[] = {
    "changes whose reverse row was not written yet: send them anew",
    "friend requests, mutes, posts and other tables of the shard",
    "which changes of an application or of a friendship a row has seen: an old one that is sent "
    "again counts as new"};

class RelationsRestoreForward : public Command {
 public:
  RelationsRestoreForward(daemon::OptionTable& table, Settings& settings)
      : Command(settings, table) {
    table.AddPositional("shard", &shard_, "whose forward rows are rebuilt: its number, from 0");
    table.Add("dry-run", &dry_run_,
              "count what would be made, and change nothing; so it is without --apply");
    table.Add("apply", &restore_.apply, "make and raise rows, from where an earlier run was ended");
    table.Add("anew", &restore_.anew, "with --apply: from the first row on");
    table.Add("rate", &restore_.rows_per_second, "rows of followers read per second")
        .Range(1, 1'000'000);
    options::AddOptions(table, settings.kafka);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    RequireUsage(restore_.apply && dry_run_         ? "--apply, --dry-run: choose one"
                 : restore_.anew && !restore_.apply ? "--anew: only with --apply"
                                                    : "");
    const mysql::Installation installation = ReadInstalled(settings_);
    const auto shard = ParseNumber<Shard>(shard_);
    RequireUsage(shard && *shard < installation.shard_map.shards()
                     ? ""
                     : "<shard>: found " + QuotedShort(shard_) + ", the last shard is " +
                           std::to_string(installation.shard_map.shards() - 1));
    restore_.shard = *shard;
    if (restore_.apply) {
      RequireTopic(settings_, installation.tasks_topic, installation.partitions);
    }
    const Interrupt::Graceful graceful(interrupt);
    const Time begin = SystemNow().mono;
    ForwardRestore restore(settings_, installation, restore_);
    const Status status = restore.Run(interrupt);
    const double seconds = std::chrono::duration<double>(SystemNow().mono - begin).count();
    json_ ? PrintJson(restore, seconds) : PrintText(restore, seconds);
    RequireFinished(status, settings_, "run it again: it goes on from where it was");
    return !restore_.apply && restore.rows().behind() > 0 ? kExitFound : 0;
  }

 private:
  void PrintText(const ForwardRestore& restore, double seconds) const {
    const mysql::ForwardRestored& rows = restore.rows();
    if (restore.resumed()) {
      std::printf("went on with the restore that began at %s; --anew begins from the first row\n",
                  daemon::Rfc3339(*restore.resumed()).c_str());
    }
    std::printf("%s%s of followers read in %s, %s of users of shard %u\n",
                restore.complete() ? "" : "broken off: ", Counted(restore.read(), "row").c_str(),
                Seconds(seconds).c_str(), Grouped(restore.of_shard()).c_str(), restore_.shard);
    std::printf("forward rows: %s %s, %s %s, %s equal, %s ahead", Grouped(rows.made).c_str(),
                restore_.apply ? "made" : "to make", Grouped(rows.raised).c_str(),
                restore_.apply ? "raised" : "to raise", Grouped(rows.equal).c_str(),
                Grouped(rows.ahead).c_str());
    if (rows.differing > 0) {
      std::printf(", %s that differ at one version and stay", Grouped(rows.differing).c_str());
    }
    if (!restore_.apply) {
      std::printf("; nothing was changed, --apply restores\n");
      return;
    }
    std::printf("; %s for pushers\n", Counted(restore.hints(), "hint").c_str());
    if (!restore.complete()) return;
    std::printf("reconcilers compare the counters of the shard anew\n");
    for (const char* text : kNotRestored) std::printf("not restored: %s\n", text);
  }

  void PrintJson(const ForwardRestore& restore, double seconds) const {
    const mysql::ForwardRestored& rows = restore.rows();
    Json not_restored = Json::array();
    for (const char* text : kNotRestored) not_restored.push_back(text);
    PutJson({{"shard", restore_.shard},
             {"applied", restore_.apply},
             {"resumed", restore.resumed().has_value()},
             {"read", restore.read()},
             {"of_shard", restore.of_shard()},
             {"made", rows.made},
             {"raised", rows.raised},
             {"equal", rows.equal},
             {"ahead", rows.ahead},
             {"differing", rows.differing},
             {"hints", restore.hints()},
             {"seconds", seconds},
             {"complete", restore.complete()},
             {"not_restored", std::move(not_restored)}});
  }

  std::string shard_;
  bool dry_run_ = false;
  RestoreOptions restore_;
};

}  // namespace

extern const Row kRelationsRestoreForward = RowOf<RelationsRestoreForward>(
    "relations restore-forward", "rebuilds a wiped shard's forward rows from the reverse rows");

}  // namespace fanline::feedctl
