// feedctl follow, unfollow: writes the forward row as everybody does, then does the mirror's work:
// writes the reverse row and appends the hint for the reader's timeline. When all hints are
// acknowledged, it marks the rows of log1 as done.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <unordered_map>

#include "backends/kafka/producer.h"
#include "backends/mysql/edges/change_log.h"
#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/edges/reverse_edges.h"
#include "daemon/clock.h"
#include "feedctl/commands/command.h"
#include "feedctl/events/acknowledgements.h"
#include "feedctl/relations/edge_line.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/line_reader.h"
#include "feedctl/support/progress.h"
#include "feedctl/support/text.h"
#include "feedctl/support/threads.h"

namespace fanline::feedctl {
namespace {

constexpr uint64_t kMostHintsUnderWay = 10'000;
constexpr const char* kAgain = "; run the same again, what is done already stays as it is";

uint64_t UnixUs() { return static_cast<uint64_t>(daemon::SystemNow().unix_ms) * 1000; }

struct Tally {
  std::atomic<uint64_t> done = 0;
  std::atomic<uint64_t> changed = 0;
  std::atomic<bool> too_often = false;  // the failure is that a reader has changed too much
  FirstFailure failure;
};

class Follow : public Command {
 public:
  Follow(bool follow, daemon::OptionTable& table, Settings& settings)
      : Command(settings), follow_(follow) {
    table.Add("reader", &reader_, "who reads").Unit("ID");
    table.Add("author", &author_, "whom").Unit("ID");
    table
        .Add("from", &from_,
             "instead of one pair: a file with a reader and an author per line, also gzipped; - is "
             "stdin")
        .Unit("FILE");
    table.Add("threads", &threads_, "at work at once with --from").Range(1, 64);
    if (follow) options::AddFollowingLimit(table, &settings.agreed.following_limit);
    table.Add("json", &json_, "print the result as one JSON object");
    options::AddOptions(table, settings.kafka);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    RequireUsage(Problem());
    const std::vector<EdgeKey> edges = Edges();
    const mysql::Installation installation = ReadInstalled(settings_);
    RequireTopic(settings_, installation.tasks_topic, installation.partitions);
    kafka::ProducerOptions options;
    options.client = options::ToOptions(settings_.kafka, kClientId);
    options.hint_topic = installation.tasks_topic;
    Acknowledgements hints;
    kafka::Producer producer(options, [](LogLevel, const std::string&) {});
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    mysql::ChangeLog log(connections);
    const auto log_begin = NewestRows(log, installation.shard_map.shards());

    const Interrupt::Graceful graceful(interrupt);
    const Time begin = daemon::SystemNow().mono;
    Tally tally;
    versions_.resize(edges.size());
    Work work{edges, installation, producer, hints, interrupt, tally};
    ChangeAll(work);
    hints.AwaitAtMost(0);
    if (hints.failure().done()) MarkMirrored(work, log, log_begin);
    RequireAll(work);
    const double seconds = std::chrono::duration<double>(daemon::SystemNow().mono - begin).count();
    Report(edges, tally, seconds, interrupt.requested());
    return 0;
  }

 private:
  struct Work {
    const std::vector<EdgeKey>& edges;
    const mysql::Installation& installation;
    kafka::Producer& producer;
    Acknowledgements& hints;
    const Interrupt& interrupt;
    Tally& tally;
    std::atomic<size_t> next = 0;
  };

  std::string Problem() const {
    if (from_.empty()) {
      if (!IsValidId(reader_) || !IsValidId(author_)) {
        return "--reader and --author are required, or --from; ids are from 1 to 2^64-2";
      }
      return reader_ == author_ ? "--author: nobody follows themselves" : "";
    }
    if (reader_ != 0 || author_ != 0) return "--from: not together with --reader and --author";
    return {};
  }

  // Reads the whole file before anything is changed: a bad line changes nothing.
  std::vector<EdgeKey> Edges() {
    if (from_.empty()) return {EdgeKey{UserId{reader_}, UserId{author_}}};
    std::vector<EdgeKey> edges;
    LineReader lines(from_);
    std::string_view line;
    while (lines.Next(&line)) {
      const auto parsed = ParseEdgeLine(line);
      if (const auto* bad = std::get_if<BadEdge>(&parsed)) throw lines.Bad(bad->reason);
      const auto* edge = std::get_if<EdgeKey>(&parsed);
      if (edge == nullptr) continue;
      if (edge->src == edge->dst) throw lines.Bad("nobody follows themselves");
      edges.push_back(*edge);
      lines_.push_back(lines.number());
    }
    source_ = lines.name();
    return edges;
  }

  void ChangeAll(Work& work) {
    Progress progress(follow_ ? "following" : "unfollowing", "relations", work.edges.size());
    InThreads(std::min<size_t>(threads_, work.edges.size()),
              [&](size_t) { ChangeSome(work, progress); });
  }

  void ChangeSome(Work& work, Progress& progress) {
    const ShardMap& map = work.installation.shard_map;
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    mysql::ForwardEdges forward(connections, map, work.installation.following_limit);
    mysql::ReverseEdges reverse(connections, map);
    const RangeLayout layout = work.installation.layout();
    while (!work.interrupt.requested() && !work.tally.failure.any()) {
      const size_t at = work.next++;
      if (at >= work.edges.size()) return;
      const auto& [reader, author] = work.edges[at];
      ForwardChanged changed;
      Status status = forward.Change({reader, author, follow_, UnixUs()}, &changed);
      if (status.never()) status.message = Refusal(at, reader, changed, status.message);
      if (changed.again_in) work.tally.too_often = true;
      if (status.done() && changed.edge.ver > 0) {
        mysql::ReverseResult applied;
        status = reverse.Apply(map.ShardOf(author), {&changed.edge, 1}, &applied);
      }
      if (!status.done()) return work.tally.failure.Note(status);
      work.hints.AwaitAtMost(kMostHintsUnderWay);
      work.hints.Expect();
      versions_[at] = changed.edge.ver;
      work.producer.Submit(
          AppendHints{at, {{layout.RangeOf(reader), Hint::OfSync(reader, author)}}, {}},
          work.hints);
      if (changed.changed) ++work.tally.changed;
      progress.At(++work.tally.done);
    }
  }

  // "edges.txt:17: reader 5 follows 5000 already; ..."
  std::string Refusal(size_t at, UserId reader, const ForwardChanged& changed,
                      const std::string& why) const {
    if (!changed.over_limit && !changed.again_in) return why;
    const std::string where =
        lines_.empty() ? "" : source_ + ":" + std::to_string(lines_[at]) + ": ";
    return where + "reader " + ToString(reader) + " " + why + "; " +
           (changed.over_limit
                ? "unfollow somebody first, or raise the installation's following_limit"
                : "the next is possible in " +
                      Counted(static_cast<uint64_t>(changed.again_in->count()), "second"));
  }

  std::vector<uint64_t> NewestRows(mysql::ChangeLog& log, uint32_t shards) const {
    std::vector<uint64_t> newest(shards);
    for (Shard shard = 0; shard < shards; ++shard) {
      Require(log.Newest(shard, &newest[shard]), settings_);
    }
    return newest;
  }

  void MarkMirrored(Work& work, mysql::ChangeLog& log,
                    const std::vector<uint64_t>& log_begin) const {
    std::unordered_map<EdgeKey, uint64_t> versions;
    for (size_t i = 0; i < versions_.size(); ++i) {
      uint64_t& version = versions[work.edges[i]];
      version = std::max(version, versions_[i]);
    }
    for (Shard shard = 0; shard < log_begin.size(); ++shard) {
      const Status status = log.MarkMirrored(shard, log_begin[shard], versions);
      if (!status.done()) return work.tally.failure.Note(status);
    }
  }

  void RequireAll(const Work& work) const {
    const Status& relation = work.tally.failure.status();
    const Status hint = work.hints.failure();
    if (relation.done() && hint.done()) return;
    const Failure why = Explain(relation.done() ? hint : relation, settings_, kExitData);
    const std::string part = relation.done() ? "written, but not all hints are acknowledged: " : "";
    const bool many = work.edges.size() > 1;
    // At the limit of followed users the next run is refused too.
    const bool again = !relation.never() || work.tally.too_often;
    const bool unfinished = again && (many || relation.done());
    throw Failure(unfinished || work.tally.too_often ? kExitTempFail : why.exit_code(),
                  part + why.what() +
                      (many ? "; " + Grouped(work.tally.done) + " of " +
                                  Counted(work.edges.size(), "relation") + " were written"
                            : "") +
                      (again ? kAgain : ""));
  }

  void Report(const std::vector<EdgeKey>& edges, const Tally& tally, double seconds,
              bool interrupted) const {
    if (!from_.empty()) return ReportMany(tally, seconds, interrupted);
    const auto& [reader, author] = edges.front();
    const bool changed = tally.changed > 0;
    if (json_) {
      PutJson({{"reader", ToString(reader)},
               {"author", ToString(author)},
               {"follows", follow_},
               {"changed", changed},
               {"version", std::to_string(versions_.front())}});
      return;
    }
    std::printf("%s %s %s: %s, version %llu\n", ToString(reader).c_str(),
                follow_ ? "follows" : "does not follow", ToString(author).c_str(),
                changed ? "changed" : "it was so already",
                static_cast<unsigned long long>(versions_.front()));
  }

  void ReportMany(const Tally& tally, double seconds, bool interrupted) const {
    const uint64_t done = tally.done;
    const uint64_t changed = tally.changed;
    if (json_) {
      PutJson({{"relations", done},
               {"changed", changed},
               {"seconds", seconds},
               {"interrupted", interrupted}});
      return;
    }
    std::printf("%s%s %s in %s, %s of them changed\n", interrupted ? "interrupted: " : "",
                Counted(done, "relation").c_str(), follow_ ? "made" : "ended",
                Seconds(seconds).c_str(), Grouped(changed).c_str());
  }

  const bool follow_;
  uint64_t reader_ = 0;
  uint64_t author_ = 0;
  std::string from_;
  std::string source_;           // what --from is called in messages
  std::vector<uint64_t> lines_;  // of each edge, with --from
  uint32_t threads_ = 4;
  bool json_ = false;
  std::vector<uint64_t> versions_;  // of each edge's rows; 0: none, or not written
};

}  // namespace

extern const Row kFollow =
    RowOf<Follow, true>("follow", "makes a reader follow an author, or many");
extern const Row kUnfollow =
    RowOf<Follow, false>("unfollow", "makes a reader no longer follow an author, or many");

}  // namespace fanline::feedctl
