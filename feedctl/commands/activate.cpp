// feedctl activate: makes timelines live, as their readers would by reading.
#include <algorithm>
#include <atomic>
#include <cstdio>

#include "backends/mysql/posts/reader_truth.h"
#include "backends/redis/reader_timelines.h"
#include "daemon/clock.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/line_reader.h"
#include "feedctl/support/progress.h"
#include "feedctl/support/text.h"
#include "feedctl/support/threads.h"
#include "feedctl/support/user_id.h"
#include "timeline/reader.h"
#include "timeline/tokens.h"

namespace fanline::feedctl {
namespace {

using timeline::RebuildResult;

class Activate : public Command {
 public:
  Activate(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.AddPositional("reader", &given_, "whose timelines").Optional();
    table.Add("from", &from_, "a file with a reader per line; - is stdin").Unit("FILE");
    table.Add("threads", &threads_, "rebuilds at once").Range(1, 64);
    options::AddOptions(table, settings.redis);
    options::AddOptions(table, settings.timelines);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    RequireUsage(given_.empty() != from_.empty() ? "" : "give readers, or --from: one of them");
    std::vector<UserId> readers;
    for (const std::string& text : given_) readers.push_back(RequireUserId("<reader>", text));
    const mysql::Installation installation = ReadInstalled(settings_);
    if (given_.empty()) readers = FromFile();
    const Interrupt::Graceful graceful(interrupt);
    const Time begin = daemon::SystemNow().mono;
    Work work{readers, installation, RequireRedis(settings_, installation), interrupt};
    RebuildAll(work);
    const double seconds = std::chrono::duration<double>(daemon::SystemNow().mono - begin).count();
    Report(work, seconds);
    Require(work.failure.status(), settings_);
    return work.gave_up > 0 ? kExitTempFail : 0;
  }

 private:
  struct Work {
    const std::vector<UserId>& readers;
    const mysql::Installation& installation;
    const redis::Options redis;
    const Interrupt& interrupt;
    timeline::Tokens tokens = {};
    std::atomic<size_t> next = 0;
    std::atomic<uint64_t> done = 0, rebuilt = 0, already_live = 0, busy = 0, gave_up = 0;
    FirstFailure failure = {};
  };

  std::vector<UserId> FromFile() const {
    std::vector<UserId> readers;
    LineReader lines(from_);
    std::string_view line;
    while (lines.Next(&line)) {
      if (line.empty() || line.front() == '#') continue;
      const auto reader = ParseId(line);
      if (!reader) throw lines.Bad(QuotedShort(line) + " is no user id; a line is one reader");
      readers.push_back(UserId{*reader});
    }
    return readers;
  }

  void RebuildAll(Work& work) {
    Progress progress("activating", "timelines", work.readers.size());
    InThreads(std::min<size_t>(threads_, work.readers.size()),
              [&](size_t) { RebuildSome(work, progress); });
  }

  void RebuildSome(Work& work, Progress& progress) {
    mysql::MysqlReaderTruth truth(options::ToConfig(settings_.mysql), work.installation.shard_map);
    redis::RedisReaderTimelines timelines(work.redis);
    timeline::Reader reader(
        truth, timelines, work.installation.window, [&work] { return work.tokens.Next(); },
        work.installation.own_posts);
    while (!work.interrupt.requested() && !work.failure.any()) {
      const size_t at = work.next++;
      if (at >= work.readers.size()) return;
      RebuildResult result = RebuildResult::kUnderWay;
      const Status status = reader.Activate(work.readers[at], &result);
      if (!status.done()) return work.failure.Note(status);
      if (result == RebuildResult::kRefused) return work.failure.Note(OtherGeneration());
      ++CounterOf(work, result);
      progress.At(++work.done);
    }
  }

  static Status OtherGeneration() {
    return Status::Later(
        "redis",
        "Redis holds timelines of another generation or number of ranges; start the "
        "pushers, which drop them, and run it again");
  }

  static std::atomic<uint64_t>& CounterOf(Work& work, RebuildResult result) {
    switch (result) {
      case RebuildResult::kRebuilt:
        return work.rebuilt;
      case RebuildResult::kAlreadyReady:
        return work.already_live;
      case RebuildResult::kBusy:
        return work.busy;
      default:
        return work.gave_up;
    }
  }

  void Report(const Work& work, double seconds) const {
    const uint64_t rebuilt = work.rebuilt, live = work.already_live, busy = work.busy;
    const uint64_t gave_up = work.gave_up;
    if (json_) {
      PutJson({{"readers", work.readers.size()},
               {"rebuilt", rebuilt},
               {"already_live", live},
               {"busy", busy},
               {"gave_up", gave_up},
               {"seconds", seconds}});
      return;
    }
    std::printf(
        "%s of %s in %s: %s rebuilt, %s live already, %s being rebuilt by others, %s given "
        "up\n",
        Grouped(work.done).c_str(), Counted(work.readers.size(), "timeline").c_str(),
        Seconds(seconds).c_str(), Grouped(rebuilt).c_str(), Grouped(live).c_str(),
        Grouped(busy).c_str(), Grouped(gave_up).c_str());
  }

  std::vector<std::string> given_;
  std::string from_;
  uint32_t threads_ = 4;
};

}  // namespace

extern const Row kActivate = RowOf<Activate>("activate", "makes timelines live");

}  // namespace fanline::feedctl
