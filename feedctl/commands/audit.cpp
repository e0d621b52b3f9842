// feedctl audit: compares every live timeline with the truth, by brute force. Run it while nothing
// is under way: a post or a follow meanwhile shows up as a difference. With --repair it may run at
// any time: differences are checked again, and what stays wrong is rebuilt. With --watch it
// compares a few timelines at a time until it is interrupted.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <future>
#include <map>
#include <optional>

#include "audit/timeline_check.h"
#include "backends/mysql/edges/mutes.h"
#include "backends/mysql/posts/author_modes.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/mysql/sql/scan.h"
#include "backends/redis/reader_timelines.h"
#include "backends/redis/timeline_scanner.h"
#include "fanline/base/mono_now.h"
#include "feedctl/auditing/findings_text.h"
#include "feedctl/auditing/watching.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/progress.h"
#include "timeline/reader.h"
#include "timeline/tokens.h"

namespace fanline::feedctl {
namespace {

using namespace std::chrono_literals;

constexpr size_t kReadersPerTurn = 200;

// A look of a repair may read as much as a timeline can hold.
constexpr audit::LookLimits kEverything{
    .most_followees = UINT32_MAX, .most_marked = UINT32_MAX, .most_items = 100'000};

// Calls `work` with 0 .. count - 1, each on its own thread. Returns a failure if there is one, when
// all have returned.
template <typename Work>
Status InThreads(size_t count, const Work& work) {
  std::vector<std::future<Status>> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.push_back(std::async(std::launch::async, [&work, i] { return work(i); }));
  }
  Status all;
  for (auto& thread : threads) {
    if (Status status = thread.get(); all.done()) all = std::move(status);
  }
  return all;
}

class Audit : public Command {
 public:
  Audit(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.Add("show", &show_, "differences to name").Range(0, 100'000);
    table.Add("threads", &threads_, "threads that read and compare timelines").Range(1, 16);
    table.Add("repair", &repair_, "rebuild timelines that are wrong and stay wrong");
    table
        .Add("repair-after", &limits_.after,
             "how long a wrong timeline may take to become right by itself")
        .Range(100ms, 1h);
    table.Add("repair-rate", &limits_.per_second, "rebuilds a second").Range(1, 1'000);
    table.Add("watch", &watch_,
              "compare a few timelines at a time beside the fleet, until it is interrupted, and "
              "show what is found on the admin port");
    AddOptions(table, watching_);
    options::AddOptions(table, settings.kafka);
    options::AddOptions(table, settings.redis);
    options::AddOptions(table, settings.timelines);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    RequireUsage(watch_ && (repair_ || json_) ? "--watch: not together with --repair or --json"
                                              : "");
    const Time begin = SystemNow().mono;
    installation_ = ReadInstalled(settings_);  // checks that these are the right shards
    redis_ = RequireRedis(settings_, installation_);
    if (watch_) {
      WatchTimelines(settings_, installation_, redis_, watching_, interrupt);
      return 0;
    }
    const std::vector<UserId> readers = Readers();
    const std::vector<UserId> unindexed = ReadUnindexed(readers);
    const audit::TimelineTruth truth = ReadTruth(readers, installation_.shard_map.shards());
    std::vector<UserId> wrong;
    const audit::Findings findings = Compare(readers, truth, unindexed, &wrong);
    std::optional<RepairResult> repaired;
    if (repair_) repaired = SetRight(wrong, interrupt);
    const RepairResult* repair = repaired ? &*repaired : nullptr;
    const double seconds = std::chrono::duration<double>(SystemNow().mono - begin).count();
    std::fputs(
        (json_ ? ToJson(findings, repair, seconds) : ToText(findings, repair, seconds)).c_str(),
        stdout);
    if (repaired && repaired->left > 0) return kExitTempFail;
    return IsGood(findings, repair) ? 0 : kExitFound;
  }

 private:
  // Readers with a timeline, ascending.
  std::vector<UserId> Readers() const {
    redis::TimelineScanner scanner(redis_);
    std::vector<UserId> readers;
    Require(scanner.Readers(&readers), settings_);
    return readers;
  }

  // Readers who have a timeline but are missing in their range's complete index, ascending. The
  // index is read after the timelines were listed, since a rebuild enters the index before its key
  // exists.
  std::vector<UserId> ReadUnindexed(const std::vector<UserId>& readers) const {
    const RangeLayout layout = installation_.layout();
    std::map<Range, std::vector<UserId>> by_range;
    for (const UserId reader : readers) by_range[layout.RangeOf(reader)].push_back(reader);
    redis::TimelineScanner scanner(redis_);
    std::vector<UserId> unindexed;
    for (const auto& [range, listed] : by_range) {
      redis::RangeIndex index;
      Require(scanner.Index(range, &index), settings_);
      if (!index.complete) continue;
      std::sort(index.readers.begin(), index.readers.end());
      std::set_difference(listed.begin(), listed.end(), index.readers.begin(), index.readers.end(),
                          std::back_inserter(unindexed));
    }
    std::sort(unindexed.begin(), unindexed.end());
    return unindexed;
  }

  audit::TimelineTruth ReadTruth(const std::vector<UserId>& readers, uint32_t shards) const {
    std::vector<audit::TimelineTruth::Part> parts(shards, audit::TimelineTruth::Part(readers));
    const auto config = options::ToConfig(settings_.mysql);
    Progress progress("reading the truth", "rows", 0);
    std::atomic<uint64_t> rows = 0;
    const auto count = [&] {
      const uint64_t read = ++rows;
      if (read % 8192 == 0) progress.At(read);
    };
    std::atomic<bool> failed = false;
    const Status scanned = InThreads(shards, [&](size_t shard) {
      mysql::ShardConnections connections(config);
      const auto on_edge = [&](UserId reader, UserId author, bool reposts) {
        parts[shard].AddEdge(reader, author, reposts);
        count();
      };
      const auto on_post = [&](const Item& item, bool pushed) {
        parts[shard].AddPost(item, pushed);
        count();
      };
      const auto on_marked = [&](UserId author, bool announced) {
        parts[shard].AddMarked(author, announced);
      };
      const auto on_mutes = [&](UserId reader, uint64_t mark) {
        parts[shard].AddMutes(reader, mark);
      };
      const auto number = static_cast<Shard>(shard);
      Status status = mysql::ScanFollowing(connections, number, on_edge);
      if (status.done() && !failed) status = mysql::ScanMutes(connections, number, on_mutes);
      if (status.done() && !failed) status = mysql::ScanVisiblePosts(connections, number, on_post);
      if (status.done() && !failed) {
        status = mysql::ScanMarkedAuthors(connections, number, on_marked);
      }
      if (!status.done()) failed = true;
      return status;
    });
    Require(scanned, settings_);
    return audit::TimelineTruth(readers, std::move(parts), installation_.own_posts);
  }

  audit::Findings Compare(const std::vector<UserId>& readers, const audit::TimelineTruth& truth,
                          const std::vector<UserId>& unindexed, std::vector<UserId>* wrong) const {
    Progress progress("comparing", "timelines", readers.size());
    std::atomic<size_t> next = 0;
    std::atomic<uint64_t> done = 0;
    std::vector<audit::Findings> findings(threads_);
    std::vector<std::vector<UserId>> not_good(threads_);
    const Status compared = InThreads(threads_, [&](size_t thread) {
      redis::TimelineScanner scanner(redis_);
      audit::TimelineCheck check(truth, installation_.window.underfilled_below(), show_);
      Status status;
      for (size_t at; (at = next.fetch_add(kReadersPerTurn)) < readers.size() && status.done();) {
        const auto turn =
            std::span(readers).subspan(at, std::min(kReadersPerTurn, readers.size() - at));
        size_t index = at;
        status = scanner.Read(turn, [&](const RawTimeline& timeline) {
          const bool indexed =
              !std::binary_search(unindexed.begin(), unindexed.end(), timeline.reader);
          const bool good = check.Check(index++, timeline, indexed);
          if (!good) not_good[thread].push_back(timeline.reader);
        });
        progress.At(done += turn.size());
      }
      if (!status.done()) next = readers.size();  // the others end, too
      findings[thread] = check.findings();
      return status;
    });
    Require(compared, settings_);
    audit::Findings all;
    for (const audit::Findings& some : findings) all.Add(some);
    if (all.differences.size() > show_) all.differences.resize(show_);
    for (const auto& some : not_good) wrong->insert(wrong->end(), some.begin(), some.end());
    return all;
  }

  // Repairs by looks at single readers, which may run while others write.
  RepairResult SetRight(const std::vector<UserId>& wrong, Interrupt& interrupt) const {
    const Interrupt::Graceful graceful(interrupt);
    mysql::MysqlReaderTruth truth(options::ToConfig(settings_.mysql), installation_.shard_map);
    redis::TimelineScanner scanner(redis_);
    redis::RedisReaderTimelines timelines(redis_);
    audit::Looker looker(truth, scanner, installation_.window.underfilled_below(),
                         installation_.own_posts, kEverything);
    timeline::Tokens tokens;
    timeline::Reader reader(
        truth, timelines, installation_.window, [&tokens] { return tokens.Next(); },
        installation_.own_posts);
    Progress progress("setting right", "timelines", wrong.size());
    uint64_t rebuilt = 0;
    Repair repair({[&](UserId user, audit::Look* look) { return looker.LookAt(user, look); },
                   [&](UserId user) { return timelines.Drop(user); },
                   [&](UserId user, timeline::RebuildResult* result) {
                     progress.At(++rebuilt);
                     return reader.Activate(user, result);
                   },
                   [&](Duration time) { return interrupt.Sleep(time); }},
                  limits_);
    RepairResult result;
    Require(repair.Run(wrong, &result), settings_);
    return result;
  }

  mysql::Installation installation_;
  redis::Options redis_;
  uint32_t show_ = 10;
  uint32_t threads_ = 2;
  bool repair_ = false;
  RepairLimits limits_;
  bool watch_ = false;
  WatchOptions watching_;
};

}  // namespace

extern const Row kAudit = RowOf<Audit>("audit", "compares every live timeline with the truth");

}  // namespace fanline::feedctl
