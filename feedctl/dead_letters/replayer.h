// Carries out replays: appends what a plan says, many at a time, and marks each letter whose
// records the brokers acknowledged. After a crash in between, the letter is replayed again, which
// is harmless. Letters of one hint (each range of a post may have one) share one replay.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <tuple>

#include "fanline/base/outcome.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"
#include "feedctl/dead_letters/replay_plan.h"
#include "feedctl/events/acknowledgements.h"

namespace fanline::feedctl {

// One thread.
class Replayer {
 public:
  // Appends a record to a partition, or with -1 by its key, and answers once, from any thread.
  using Produce = std::function<void(const std::string& topic, int32_t partition,
                                     const std::string& key, const std::string& value,
                                     const Headers& headers, std::function<void(Status)> answer)>;
  // Called once for each letter. kDone: it is replayed and marked. kLater: it is not replayed or
  // not marked; replay it again. kNever: its topic never takes it.
  using Report = std::function<void(const Letter&, const Status&)>;

  // Whatever answers requests must end before this object.
  Replayer(Produce produce, Serves<AppendHints>& hints, Report report)
      : produce_(std::move(produce)), hint_log_(hints), report_(std::move(report)) {}

  // `plan` is not CannotReplay. Waits for earlier letters when many are under way.
  void Take(Letter letter, const ReplayPlan& plan);

  // Waits until all letters are reported. Each answer comes within the producer's own limit.
  void Finish();

  // The first kLater, or done.
  const Status& failure() const { return failure_; }

 private:
  using HintKey = std::tuple<size_t, uint64_t, uint64_t>;

  struct Item {
    Letter letter;
    Acknowledgements* acks = nullptr;
    const Item* same = nullptr;  // a letter of the same hint, whose replay counts
    Status status = {};          // written before acks is called

    void Push(const HintsAppended& reply) { Answer(reply.status); }
    void Answer(const Status& answer) {
      status = answer;
      acks->Answer(answer);
    }
  };

  void Send(Item& item, const AppendAgain& plan);
  void Send(Item& item, const HintAnew& plan);
  void Mark(Item& item);

  const Produce produce_;
  Serves<AppendHints>& hint_log_;
  const Report report_;
  std::deque<Item> items_;  // under way; addresses are stable
  size_t bytes_ = 0;        // of the items' values
  // Hints that were appended, with their item; null once that is reported.
  std::map<HintKey, const Item*> hints_;
  Status failure_;
  Acknowledgements acks_;
};

}  // namespace fanline::feedctl
