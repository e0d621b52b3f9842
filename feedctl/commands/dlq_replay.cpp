// feedctl dlq replay: has letters processed again, once their cause is fixed.
#include <cstdio>
#include <utility>

#include "backends/kafka/producer.h"
#include "fanline/base/mono_now.h"
#include "fanline/wire/relation_retry.h"
#include "feedctl/commands/command.h"
#include "feedctl/dead_letters/letter_log.h"
#include "feedctl/dead_letters/replayer.h"
#include "feedctl/events/pace.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

struct Tally {
  uint64_t found = 0, before = 0, replayed = 0, cannot = 0, failed = 0;
};

struct Appending {
  Appending(const Settings& settings, const mysql::Installation& installation,
            Replayer::Report report)
      : replayer([this](const std::string& topic, int32_t partition,
                        const auto&... record) { producer.Produce(topic, partition, record...); },
                 producer, std::move(report)),
        producer({.client = options::ToOptions(settings.kafka, kClientId),
                  .hint_topic = installation.tasks_topic,
                  .linger = std::chrono::milliseconds(5)},
                 {}) {}

  Replayer replayer;
  kafka::Producer producer;  // last: its thread calls the members above
};

class DlqReplay : public Command {
 public:
  DlqReplay(daemon::OptionTable& table, Settings& settings)
      : Command(settings, table), options_(table, settings) {
    table.Add("all", &all_, "all letters, unless another option selects some");
    table.Add("again", &again_, "also letters that were replayed before");
    table.Add("rate", &rate_, "letters per second; 0 is as fast as can be").Range(0, 1'000'000);
    table.Add("show", &show_, "letters to name").Range(0, 1'000'000);
    options::AddOptions(table, settings.kafka);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    RequireUsage(
        all_ || options_.given() ? "" : "say which: <letter>, --topic, --reason, --since or --all");
    const mysql::Installation installation = ReadInstalled(settings_);
    UseTopicsOf(installation, settings_);
    const Selection selection = options_.Selected();
    RequireSources(selection, installation);

    const Interrupt::Graceful graceful(interrupt);
    Appending appending(settings_, installation, [this](const auto&... told) { Told(told...); });
    Replayer& replayer = appending.replayer;
    const Pace pace(rate_, SystemNow().mono);
    const auto missing = ForEachLetter(settings_, selection, [&](Letter letter) {
      return Replay(std::move(letter), installation.layout(), pace, interrupt, replayer);
    });
    replayer.Finish();
    Report(interrupt.requested());
    RequireFinished(replayer.failure(), settings_, "run it again: replayed letters are marked");
    if (!interrupt.requested()) RequireFound(missing);
    return tally_.cannot > 0 ? kExitData : 0;
  }

 private:
  // A producer would create a missing topic, with the cluster's defaults.
  void RequireSources(const Selection& selection, const mysql::Installation& installation) const {
    for (const LetterTopic& topic : selection.topics) {
      RequireTopic(settings_, topic.source,
                   topic.kind == LetterKind::kHint ? installation.partitions : 0);
      if (topic.kind == LetterKind::kRelation) RequireTopic(settings_, kRelationRetryTopic, 0);
    }
  }

  // False: no more.
  bool Replay(Letter letter, const RangeLayout& layout, const Pace& pace,
              const Interrupt& interrupt, Replayer& replayer) {
    ++tally_.found;
    if (letter.replayed && !again_) {
      ++tally_.before;
      return !interrupt.requested();
    }
    const ReplayPlan plan = PlanOf(letter, layout);
    if (const auto* cannot = std::get_if<CannotReplay>(&plan)) {
      ++tally_.cannot;
      Name(letter, "cannot be replayed: " + cannot->why);
    } else {
      // Marks the letters already sent before waiting for the next one's turn.
      if (pace.WaitBefore(sent_, SystemNow().mono) > Duration::zero()) replayer.Finish();
      if (!interrupt.Sleep(pace.WaitBefore(sent_, SystemNow().mono))) return false;
      ++sent_;
      replayer.Take(std::move(letter), plan);
    }
    return !interrupt.requested() && replayer.failure().done();
  }

  void Told(const Letter& letter, const Status& status) {
    if (status.done()) {
      ++tally_.replayed;
      Name(letter, "replayed");
    } else if (status.never()) {
      ++tally_.cannot;
      Name(letter, "cannot be replayed: " + OneLine(status.message));
    } else {
      ++tally_.failed;
      Name(letter, "not replayed: " + OneLine(status.message));
    }
  }

  void Name(const Letter& letter, const std::string& what) {
    if (named_++ >= show_) return;
    if (json_) {
      letters_.push_back(
          {{"letter", ToString(letter.place)}, {"summary", Summary(letter)}, {"result", what}});
    } else {
      std::printf("%s%s: %s\n", Left(ToString(letter.place), 26).c_str(), Summary(letter).c_str(),
                  what.c_str());
    }
  }

  void Report(bool interrupted) {
    if (json_) {
      PutJson({{"found", tally_.found},
               {"replayed", tally_.replayed},
               {"before", tally_.before},
               {"cannot", tally_.cannot},
               {"failed", tally_.failed},
               {"interrupted", interrupted},
               {"letters", std::move(letters_)}});
      return;
    }
    std::string line = Counted(tally_.replayed, "dead letter") + " replayed";
    if (tally_.cannot > 0) line += ", " + Grouped(tally_.cannot) + " cannot be";
    if (tally_.failed > 0) line += ", " + Grouped(tally_.failed) + " not replayed";
    if (tally_.before > 0) {
      line += ", " + Grouped(tally_.before) + " were before (--again repeats them)";
    }
    std::printf("%s%s\n", interrupted ? "interrupted: " : "", line.c_str());
  }

  LetterOptions options_;
  bool all_ = false;
  bool again_ = false;
  double rate_ = 0;
  uint32_t show_ = 1000;
  Tally tally_;
  uint64_t sent_ = 0;
  uint64_t named_ = 0;
  Json letters_ = Json::array();
};

}  // namespace

extern const Row kDlqReplay =
    RowOf<DlqReplay>("dlq replay", "has dead letters processed again, after a fix");

}  // namespace fanline::feedctl
