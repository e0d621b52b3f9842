// Carries replays out: appends what a plan says, many at a time, and marks each letter whose
// records the brokers acknowledged. A crash in between replays that letter once more the next time,
// at no harm. Letters of one hint (each range of a post may have left one) share one replay.
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
  // Appends a record, to a partition or (-1) by its key, and answers once, from any thread.
  using Produce = std::function<void(const std::string& topic, int32_t partition,
                                     const std::string& key, const std::string& value,
                                     const Headers& headers, std::function<void(Status)> answer)>;
  // Hears once of each letter. kDone: it is replayed and marked. kLater: it is not, or not marked;
  // replay it again. kNever: its topic never takes it.
  using Report = std::function<void(const Letter&, const Status&)>;

  // What answers requests ends before this object does.
  Replayer(Produce produce, Serves<AppendHints>& hints, Report report)
      : produce_(std::move(produce)), hint_log_(hints), report_(std::move(report)) {}

  // `plan` is no CannotReplay. Waits for others when many are under way.
  void Take(Letter letter, const ReplayPlan& plan);

  // Waits until all that was taken is reported. Each answer comes within the producer's own limit.
  void Finish();

  // The first that was kLater; done when none was.
  const Status& failure() const { return failure_; }

 private:
  using HintKey = std::tuple<size_t, uint64_t, uint64_t>;

  struct Item {
    Letter letter;
    Acknowledgements* acks = nullptr;
    const Item* same = nullptr;  // another letter of the same hint is replayed for this one
    Status status = {};          // written before acks hear of it

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
  std::deque<Item> items_;  // under way; addresses stay
  size_t bytes_ = 0;        // of their values
  // Hints that were appended: by which item, null when that is reported.
  std::map<HintKey, const Item*> hints_;
  Status failure_;
  Acknowledgements acks_;
};

}  // namespace fanline::feedctl
