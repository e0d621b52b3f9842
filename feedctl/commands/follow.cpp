// feedctl follow, unfollow: writes the forward row and its row of log1, as the API does. A running
// mirror does the rest: the reverse row and the reader's timeline.
#include <algorithm>
#include <atomic>
#include <cstdio>

#include "backends/mysql/edges/mirror_store.h"
#include "daemon/clock.h"
#include "fanline/ports/ask.h"
#include "feedctl/commands/command.h"
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

constexpr const char* kAgain = "; run the same again, what is done already stays as it is";

uint64_t UnixUs() { return static_cast<uint64_t>(daemon::SystemNow().unix_ms) * 1000; }

struct Tally {
  std::atomic<uint64_t> done = 0;
  std::atomic<uint64_t> changed = 0;
  std::atomic<bool> too_often = false;  // a reader has changed too much
  FirstFailure failure;
};

class Follow : public Command {
 public:
  Follow(bool follow, daemon::OptionTable& table, Settings& settings)
      : Command(settings, table), follow_(follow) {
    table.Add("reader", &reader_, "who reads").Unit("ID");
    table.Add("author", &author_, "whom").Unit("ID");
    table
        .Add("from", &from_,
             "instead of one pair: a file with a reader and an author per line, also gzipped; - is "
             "stdin")
        .Unit("FILE");
    table.Add("threads", &threads_, "at work at once with --from").Range(1, 64);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    RequireUsage(Problem());
    const std::vector<EdgeKey> edges = Edges();
    const mysql::Installation installation = ReadInstalled(settings_);
    const Interrupt::Graceful graceful(interrupt);
    const Time begin = daemon::SystemNow().mono;
    Tally tally;
    Work work{edges, installation, interrupt, tally};
    ChangeAll(work);
    RequireAll(work);
    const double seconds = std::chrono::duration<double>(daemon::SystemNow().mono - begin).count();
    Report(edges, tally, seconds, interrupt.requested());
    return 0;
  }

 private:
  struct Work {
    const std::vector<EdgeKey>& edges;
    const mysql::Installation& installation;
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
    const size_t threads = std::min<size_t>(threads_, work.edges.size());
    Answers<EdgeChanged> answers;
    mysql::MysqlForwardStore forward(
        options::ToConfig(settings_.mysql), {}, [](LogLevel, const std::string&) {},
        {work.installation.shard_map, work.installation.following_limit},
        {.threads_per_shard = threads});
    Progress progress(follow_ ? "following" : "unfollowing", "relations", work.edges.size());
    InThreads(threads, [&](size_t) { ChangeSome(work, answers, forward, progress); });
  }

  void ChangeSome(Work& work, Answers<EdgeChanged>& answers, Serves<ChangeEdge>& forward,
                  Progress& progress) {
    while (!work.interrupt.requested() && !work.tally.failure.any()) {
      const size_t at = work.next++;
      if (at >= work.edges.size()) return;
      const auto& [reader, author] = work.edges[at];
      auto [id, status, changed] =
          answers.Ask(forward, ChangeEdge{0, {reader, author, follow_, UnixUs()}});
      if (status.never()) status.message = Refusal(at, reader, changed, status.message);
      if (changed.again_in) work.tally.too_often = true;
      if (!status.done()) return work.tally.failure.Note(status);
      if (from_.empty()) version_ = changed.edge.ver;
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

  void RequireAll(const Work& work) const {
    const Status& failed = work.tally.failure.status();
    if (failed.done()) return;
    const Failure why = Explain(failed, settings_, kExitData);
    const bool many = work.edges.size() > 1;
    // At the limit of followed users, another run would be refused, too.
    const bool again = !failed.never() || work.tally.too_often;
    throw Failure((again && many) || work.tally.too_often ? kExitTempFail : why.exit_code(),
                  std::string(why.what()) +
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
               {"version", std::to_string(version_)}});
      return;
    }
    std::printf("%s %s %s: %s, version %llu\n", ToString(reader).c_str(),
                follow_ ? "follows" : "does not follow", ToString(author).c_str(),
                changed ? "changed" : "it was so already",
                static_cast<unsigned long long>(version_));
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
  std::string source_;           // the name of --from in messages
  std::vector<uint64_t> lines_;  // of each edge, with --from
  uint32_t threads_ = 4;
  uint64_t version_ = 0;  // of the pair's row; 0: none
};

}  // namespace

extern const Row kFollow =
    RowOf<Follow, true>("follow", "makes a reader follow an author, or many");
extern const Row kUnfollow =
    RowOf<Follow, false>("unfollow", "makes a reader no longer follow an author, or many");

}  // namespace fanline::feedctl
