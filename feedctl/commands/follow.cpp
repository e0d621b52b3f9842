// feedctl follow, unfollow: writes the forward row and its row of log1, as the API does. A running
// mirror does the rest: the reverse row and the reader's timeline.
#include <cstdio>

#include "backends/mysql/edges/mirror_store.h"
#include "daemon/clock.h"
#include "fanline/ports/ask.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kAgain = "; run the same again, what is done already stays as it is";

uint64_t UnixUs() { return static_cast<uint64_t>(daemon::SystemNow().unix_ms) * 1000; }

class Follow : public Command {
 public:
  Follow(bool follow, daemon::OptionTable& table, Settings& settings)
      : Command(settings, table), follow_(follow) {
    table.Add("reader", &reader_, "who reads").Unit("ID");
    table.Add("author", &author_, "whom").Unit("ID");
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    RequireUsage(Problem());
    const mysql::Installation installation = ReadInstalled(settings_);
    const Interrupt::Graceful graceful(interrupt);
    Answers<EdgeChanged> answers;
    mysql::MysqlForwardStore forward(
        options::ToConfig(settings_.mysql), {}, [](LogLevel, const std::string&) {},
        {installation.shard_map, installation.following_limit}, {.threads_per_shard = 1});
    const auto [id, status, changed] =
        answers.Ask(forward, ChangeEdge{0, {UserId{reader_}, UserId{author_}, follow_, UnixUs()}});
    if (!status.done()) throw WhyNot(status, changed);
    Report(changed);
    return 0;
  }

 private:
  std::string Problem() const {
    if (!IsValidId(reader_) || !IsValidId(author_)) {
      return "--reader and --author are required; ids are from 1 to 2^64-2";
    }
    return reader_ == author_ ? "--author: nobody follows themselves" : "";
  }

  // "reader 5 follows 5000 already; ..."
  Failure WhyNot(Status status, const ForwardChanged& changed) const {
    const bool limited = changed.over_limit || changed.again_in;
    if (status.never() && limited) {
      status.message =
          "reader " + std::to_string(reader_) + " " + status.message + "; " +
          (changed.over_limit
               ? "unfollow somebody first, or raise the installation's following_limit"
               : "the next is possible in " +
                     Counted(static_cast<uint64_t>(changed.again_in->count()), "second"));
    }
    const Failure why = Explain(status, settings_, kExitData);
    const bool too_often = changed.again_in.has_value();
    // At the limit of followed users, another run would be refused, too.
    return Failure(too_often ? kExitTempFail : why.exit_code(),
                   std::string(why.what()) + (!status.never() || too_often ? kAgain : ""));
  }

  void Report(const ForwardChanged& changed) const {
    const std::string version = std::to_string(changed.edge.ver);
    if (json_) {
      PutJson({{"reader", std::to_string(reader_)},
               {"author", std::to_string(author_)},
               {"follows", follow_},
               {"changed", changed.changed},
               {"version", version}});
      return;
    }
    std::printf("%llu %s %llu: %s, version %s\n", static_cast<unsigned long long>(reader_),
                follow_ ? "follows" : "does not follow", static_cast<unsigned long long>(author_),
                changed.changed ? "changed" : "it was so already", version.c_str());
  }

  const bool follow_;
  uint64_t reader_ = 0;
  uint64_t author_ = 0;
};

}  // namespace

extern const Row kFollow = RowOf<Follow, true>("follow", "makes a reader follow an author");
extern const Row kUnfollow =
    RowOf<Follow, false>("unfollow", "makes a reader no longer follow an author");

}  // namespace fanline::feedctl
