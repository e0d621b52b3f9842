// feedctl relations rescan: after a failover, compares the changes of the last hours, as
// relation-log has them, with their rows. Safe while daemons run: what differs is given to the
// reconcilers.
#include <cstdio>

#include "backends/kafka/tools/log_reader.h"
#include "backends/mysql/edges/tombstones.h"
#include "backends/mysql/installation/settings.h"
#include "backends/mysql/sql/shard_connections.h"
#include "daemon/observe/log.h"
#include "feedctl/commands/command.h"
#include "feedctl/relations/rescan.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/progress.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

using std::chrono::hours;

constexpr size_t kEdgesAtOnce = 20'000;
constexpr Duration kBrokerPatience = std::chrono::seconds(10);

constexpr const char* kUnseen[] = {
    "changes that were lost with their row of log1 before a mirror announced them",
    "edges of which both rows and the message are gone",
    "rows that were changed without a message: an edit by hand, an import",
    "friendships that an edge has lost: the log scan compares those of log1",
    "changes that are pending in log1: they are the mirror's"};

struct Span {
  std::vector<kafka::LogSpan> spans;
  std::vector<int32_t> cut;  // partitions whose log begins after --since
};

class RelationsRescan : public Command {
 public:
  RelationsRescan(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table
        .Add("since", &since_,
             "how old the oldest change is that is compared, such as 2h: from "
             "before the failover on")
        .Required()
        .Range(std::chrono::seconds(1), 365 * hours(24));
    table.Add("shard", &shard_, "only edges with a row on this shard; none: all");
    table.Add("dry-run", &dry_run_,
              "say what differs, and change nothing; so it is without --apply");
    table.Add("apply", &apply_, "have the reconcilers repair what differs");
    table.Add("rate", &scan_.edges_per_second, "edges compared per second and shard of followers")
        .Range(1, 1'000'000);
    table.Add("show", &scan_.show, "differing edges to name").Range(0, 100'000);
    options::AddOptions(table, settings.kafka);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    RequireUsage(apply_ && dry_run_ ? "--apply, --dry-run: choose one" : "");
    const mysql::Installation installation = ReadInstalled(settings_);
    ReadShard(installation);
    scan_.apply = apply_;
    RequireKnown(installation);
    kafka::LogReader reader(options::ToOptions(settings_.kafka, kClientId), kBrokerPatience);
    const Span span = Look(reader);
    const Interrupt::Graceful graceful(interrupt);
    Rescan rescan(settings_, installation, scan_);
    ReadAll(reader, span, rescan, interrupt);
    complete_ = !interrupt.requested();
    json_ ? PrintJson(rescan, span) : PrintText(rescan, span);
    return rescan.differing() > 0 && !apply_ ? kExitFound : 0;
  }

 private:
  void ReadShard(const mysql::Installation& installation) {
    if (shard_.empty()) return;
    for (Shard shard = 0; shard < installation.shard_map.shards(); ++shard) {
      if (std::to_string(shard) == shard_) scan_.shard = shard;
    }
    RequireUsage(scan_.shard ? ""
                             : "--shard: found " + QuotedShort(shard_) + ", the last shard is " +
                                   std::to_string(installation.shard_map.shards() - 1));
  }

  // Older messages would be compared without what they say (reconciler/verdict.h).
  void RequireKnown(const mysql::Installation& installation) const {
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    UnixMs horizon = 0;
    Require(mysql::ReadHighestHorizon(connections, installation.shard_map.shards(), &horizon),
            settings_);
    const bool known = SystemNow().unix_ms - since_.count() >= horizon;
    RequireUsage(known ? ""
                       : "--since: unfollows before " + daemon::Rfc3339(horizon) +
                             " may be forgotten, so older changes prove nothing");
  }

  Span Look(kafka::LogReader& reader) const {
    const int32_t partitions = RequireTopic(settings_, kRelationLogTopic);
    Span span;
    std::vector<kafka::LogSpan> whole;
    const UnixMs since = SystemNow().unix_ms - since_.count();
    Require(reader.Look(kRelationLogTopic, partitions, since, &span.spans), settings_);
    Require(reader.Look(kRelationLogTopic, partitions, 0, &whole), settings_);
    for (size_t i = 0; i < span.spans.size() && i < whole.size(); ++i) {
      if (span.spans[i].from <= whole[i].from && whole[i].from > 0) {
        span.cut.push_back(span.spans[i].partition);
      }
    }
    return span;
  }

  void ReadAll(kafka::LogReader& reader, const Span& span, Rescan& rescan,
               const Interrupt& interrupt) {
    uint64_t records = 0;
    for (const kafka::LogSpan& part : span.spans) {
      records += static_cast<uint64_t>(std::max<int64_t>(0, part.to - part.from));
    }
    Progress progress("rescan", "messages", records);
    const auto stop = [&interrupt] { return interrupt.requested(); };
    for (const kafka::LogSpan& part : span.spans) {
      if (part.empty() || interrupt.requested()) continue;
      const auto take = [&](const Record& record) {
        const auto decoded = DecodeRelationMessage(record.value);
        if (const auto* message = std::get_if<RelationMessage>(&decoded)) rescan.Take(*message);
        progress.At(++messages_);
        if (rescan.waiting() >= kEdgesAtOnce) rescan.Compare(stop);
        return !interrupt.requested();
      };
      Require(reader.Read(kRelationLogTopic, part, take), settings_);
    }
    rescan.Compare(stop);
  }

  void PrintText(const Rescan& rescan, const Span& span) const {
    for (const EdgeFound& found : rescan.named()) {
      std::printf("user %s -> user %s: %s\n", ToString(found.edge.src).c_str(),
                  ToString(found.edge.dst).c_str(), found.what.c_str());
    }
    if (const uint64_t more = rescan.differing() - rescan.named().size(); more > 0) {
      std::printf("and %s more\n", Grouped(more).c_str());
    }
    std::printf("%s%s of %s compared: %s differ%s",
                complete_ ? "" : "broken off: ", Counted(rescan.compared(), "edge").c_str(),
                Counted(messages_, "message").c_str(), Grouped(rescan.differing()).c_str(),
                rescan.differing() == 1 ? "s" : "");
    if (apply_) {
      std::printf(", given to the reconcilers\n");
    } else {
      std::printf("; nothing was changed, --apply repairs\n");
    }
    if (rescan.unread() > 0) {
      std::printf("%s could not be read: a shard is away%s\n",
                  Counted(rescan.unread(), "edge").c_str(),
                  apply_ ? "; given to the reconcilers" : "");
    }
    for (const int32_t partition : span.cut) {
      std::printf("partition %d of relation-log begins later than that: what was cut is not seen\n",
                  partition);
    }
    for (const char* unseen : kUnseen) std::printf("not seen: %s\n", unseen);
  }

  void PrintJson(const Rescan& rescan, const Span& span) const {
    Json edges = Json::array(), unseen = Json::array();
    for (const EdgeFound& found : rescan.named()) {
      edges.push_back({{"user", ToString(found.edge.src)},
                       {"other", ToString(found.edge.dst)},
                       {"found", found.what}});
    }
    for (const char* text : kUnseen) unseen.push_back(text);
    PutJson({{"messages", messages_},
             {"compared", rescan.compared()},
             {"differing", rescan.differing()},
             {"unread", rescan.unread()},
             {"applied", apply_},
             {"causes", rescan.causes()},
             {"complete", complete_},
             {"cut_partitions", span.cut},
             {"not_seen", std::move(unseen)},
             {"edges", std::move(edges)}});
  }

  std::chrono::milliseconds since_{0};
  std::string shard_;
  bool dry_run_ = false;
  bool apply_ = false;
  RescanOptions scan_;
  uint64_t messages_ = 0;
  bool complete_ = false;
};

}  // namespace

extern const Row kRelationsRescan = RowOf<RelationsRescan>(
    "relations rescan", "compares the changes of the last hours with their rows, after a failover");

}  // namespace fanline::feedctl
