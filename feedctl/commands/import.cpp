// feedctl import: loads a graph from a file into both directions of the relations. Then it sends
// the hints that update live timelines, as every writer of followers does. Ranges that no pusher
// has ever owned need no hints (docs/decisions/0016-empty-ranges-are-left-out.md).
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "backends/kafka/producer.h"
#include "backends/mysql/edges/tombstones.h"
#include "backends/mysql/installation/range_owners.h"
#include "backends/mysql/tools/bulk_load.h"
#include "daemon/observe/log.h"
#include "fanline/base/mono_now.h"
#include "feedctl/commands/command.h"
#include "feedctl/events/acknowledgements.h"
#include "feedctl/relations/graph.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/line_reader.h"
#include "feedctl/support/progress.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

// When the file was last written; 0: unknown, as of stdin.
UnixMs WrittenAt(const std::string& file) {
  struct stat about {};
  if (file == "-" || ::stat(file.c_str(), &about) != 0) return 0;
  return static_cast<UnixMs>(about.st_mtim.tv_sec) * 1000;
}

constexpr size_t kHintsPerAppend = 200;
constexpr uint64_t kMostAppendsUnderWay = 100;

class Import : public Command {
 public:
  Import(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.AddPositional(
        "file", &file_,
        "an edge list; - is stdin. A line is who follows and whom, two ids, and perhaps what that "
        "brings: all, no_reposts or none; # begins a comment");
    table.Add("id-offset", &id_offset_, "added to every id of the file; 1 when it counts from 0");
    table
        .Add("taken", &taken_,
             "how long ago the graph was taken, such as 48h, if that is not when the file was "
             "written")
        .Range(std::chrono::seconds(1), 100 * 365 * std::chrono::hours(24));
    options::AddOptions(table, settings.kafka);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    const Time begin = SystemNow().mono;
    const mysql::Installation installation = ReadInstalled(settings_);
    RequireKnown(installation);
    const Graph graph = Read();
    const std::vector<UserId> users = graph.Users();
    Say(Counted(graph.edges().size(), "edge") + " of " + Counted(users.size(), "user") + " read, " +
        Counted(graph.to_oneself(), "edge") + " to oneself left out");

    interrupt.Advise("run the same import again: what is loaded stays");
    if (const auto owned = OwnedRanges(installation); AnyIn(owned)) {
      RequireTopic(settings_, installation.tasks_topic, installation.partitions);
    }
    mysql::BulkLoader::Result result;
    const Status loaded = Load(graph, installation, &result);
    if (!loaded.later()) SendHints(graph, installation);
    Require(loaded, settings_, kExitData);
    const double seconds = std::chrono::duration<double>(SystemNow().mono - begin).count();
    Report(graph, users.size(), result, seconds);
    SayOverLimit(result, installation.following_limit);
    return 0;
  }

 private:
  // An unfollow keeps its edge from being imported again, as long as its tombstone is kept.
  void RequireKnown(const mysql::Installation& installation) const {
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    UnixMs horizon = 0;
    Require(mysql::ReadHighestHorizon(connections, installation.shard_map.shards(), &horizon),
            settings_);
    const UnixMs taken =
        taken_.count() > 0 ? SystemNow().unix_ms - taken_.count() : WrittenAt(file_);
    if (taken >= horizon) return;
    throw Failure(kExitData, file_ + ": it is of " +
                                 (taken > 0 ? daemon::Rfc3339(taken) : "an unknown time") +
                                 ", and unfollows before " + daemon::Rfc3339(horizon) +
                                 " may be forgotten: the import would bring them back. If the "
                                 "graph is younger than its file, --taken says so");
  }

  Graph Read() const {
    LineReader lines(file_);
    Progress progress("reading", "lines", 0);
    return ReadGraph(lines, id_offset_, [&](uint64_t read) { progress.At(read); });
  }

  std::vector<bool> OwnedRanges(const mysql::Installation& installation) const {
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    std::vector<bool> owned;
    Require(
        mysql::ReadOwnedRanges(connections, installation.layout(), installation.shard_map, &owned),
        settings_);
    return owned;
  }

  static bool AnyIn(const std::vector<bool>& owned) {
    return std::find(owned.begin(), owned.end(), true) != owned.end();
  }

  // Asks after the load which ranges are owned: a range that is first owned later drops its
  // timelines anyway. Sends hints for every edge of the file, new or not, since an earlier import
  // may have been killed before its hints were acknowledged.
  void SendHints(const Graph& graph, const mysql::Installation& installation) {
    const std::vector<bool> owned = OwnedRanges(installation);
    if (!AnyIn(owned)) return;
    const RangeLayout layout = installation.layout();
    Acknowledgements acknowledged;
    kafka::Producer producer({.client = options::ToOptions(settings_.kafka, kClientId),
                              .hint_topic = installation.tasks_topic},
                             {});
    Progress progress("hinting", "relations", graph.edges().size());
    AppendHints next;
    const auto send = [&] {
      if (next.hints.empty()) return;
      acknowledged.AwaitAtMost(kMostAppendsUnderWay);
      acknowledged.Expect();
      hints_ += next.hints.size();
      producer.Submit(std::exchange(next, {}), acknowledged);
    };
    uint64_t seen = 0;
    for (const auto& [edge, delivery] : graph.edges()) {
      progress.At(++seen);
      const Range range = layout.RangeOf(edge.src);
      if (!owned[static_cast<size_t>(range)]) continue;
      next.hints.emplace_back(range, Hint::OfSync(edge.src, edge.dst));
      if (next.hints.size() == kHintsPerAppend) send();
      if (!acknowledged.failure().done()) break;
    }
    send();
    acknowledged.AwaitAtMost(0);
    if (acknowledged.failure().done()) return;
    throw Failure(kExitTempFail, std::string("loaded, but not all hints are acknowledged: ") +
                                     Explain(acknowledged.failure(), settings_).what() +
                                     "; run the same import again: what is loaded stays");
  }

  Status Load(const Graph& graph, const mysql::Installation& installation,
              mysql::BulkLoader::Result* result) {
    mysql::BulkLoader loader(options::ToConfig(settings_.mysql), installation.shard_map,
                             installation.following_limit);
    for (const auto& [edge, delivery] : graph.edges()) loader.Add(edge.src, edge.dst, delivery);
    Progress progress("loading", "rows", 2 * graph.edges().size());
    return loader.Load(
        static_cast<uint64_t>(SystemNow().unix_ms) * 1000,
        [&](uint64_t rows, uint64_t of) {
          progress.SetTotal(of);
          progress.At(rows);
        },
        result);
  }

  void Report(const Graph& graph, size_t users, const mysql::BulkLoader::Result& result,
              double seconds) const {
    if (json_) {
      PutJson({{"users", users},
               {"edges", result.edges},
               {"repeated", result.repeated},
               {"to_oneself", graph.to_oneself()},
               {"already_there", result.already_there},
               {"chosen", result.chosen},
               {"users_over_limit", result.users_over_limit},
               {"edges_over_limit", result.edges_over_limit},
               {"hints", hints_},
               {"seconds", seconds}});
      return;
    }
    std::printf(
        "imported %s in %s: %s left out, %s already there%s; both directions and their "
        "counters agree; %s for pushers\n",
        Counted(result.edges, "edge").c_str(), Seconds(seconds).c_str(),
        (Grouped(result.repeated) + " repeated").c_str(), Grouped(result.already_there).c_str(),
        (result.chosen == 0 ? "" : ", " + Grouped(result.chosen) + " with another delivery")
            .c_str(),
        Counted(hints_, "hint").c_str());
  }

  void SayOverLimit(const mysql::BulkLoader::Result& result, uint32_t most) const {
    if (result.users_over_limit == 0) return;
    Say(Counted(result.edges_over_limit, "edge") + " of " +
        Counted(result.users_over_limit, "user") + " go beyond the limit of " + Grouped(most) +
        " followed users and are kept; such a user must unfollow others before following anybody "
        "else");
  }

  void Say(const std::string& line) const {
    if (!json_) std::printf("%s\n", line.c_str());
  }

  std::string file_;
  uint64_t id_offset_ = 0;
  std::chrono::milliseconds taken_{0};
  uint64_t hints_ = 0;
};

}  // namespace

extern const Row kImport = RowOf<Import>("import", "loads a graph of who follows whom");

}  // namespace fanline::feedctl
