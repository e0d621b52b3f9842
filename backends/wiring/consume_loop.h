// The turn of a consuming daemon: records and completions in, orders out. The logic (Dispatcher,
// Pusher, ...) is a type with Step(span<Input>, Now), StopTaking() and drained().
#pragma once

#include <prometheus/registry.h>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backends/kafka/consumer.h"
#include "daemon/inbox.h"
#include "daemon/metrics.h"
#include "daemon/run.h"

namespace fanline::wiring {

template <typename Logic, typename Input>
class ConsumeLoop {
 public:
  // All outlive this object. `labels` tell the lags of several consumers in one daemon apart.
  ConsumeLoop(kafka::Consumer& consumer, daemon::Inbox<Input>& inbox, Logic& logic,
              prometheus::Registry& registry, prometheus::Labels labels = {})
      : consumer_(consumer),
        inbox_(inbox),
        logic_(logic),
        registry_(registry),
        labels_(std::move(labels)) {}

  daemon::StepResult Step(const Now& now) {
    Turn turn = Go(now);
    return {turn.did_work, turn.next_timer};
  }

  // Finishes what was started; then leaves the group, so that another member takes over at once.
  daemon::DrainResult Drain(const Now& now) {
    logic_.StopTaking();
    Turn turn = Go(now);
    const bool done = logic_.drained();
    if (done) consumer_.Close(kCloseLimit);
    return {done, turn.did_work, turn.next_timer};
  }

 private:
  static constexpr size_t kRecordsPerTurn = 2'000;
  static constexpr Duration kCloseLimit = std::chrono::seconds(5);
  static constexpr Duration kLagEvery = std::chrono::seconds(1);

  struct Turn {
    bool did_work = false;
    std::optional<Time> next_timer;
  };

  Turn Go(const Now& now) {
    events_.clear();
    consumer_.Poll(kRecordsPerTurn, events_);
    // What came from the log first: a reply may be about a partition that was just revoked.
    std::vector<Input> inputs;
    inputs.reserve(events_.size());
    for (auto& event : events_) Take(std::move(event), inputs);
    for (auto& reply : inbox_.Drain()) inputs.push_back(std::move(reply));
    const auto progress = logic_.Step(inputs, now);
    consumer_.Apply(progress.orders);
    ShowLag(now);
    return {!inputs.empty(), progress.next_timer};
  }

  void Take(kafka::ConsumerEvent event, std::vector<Input>& inputs) {
    if (auto* record = std::get_if<Record>(&event)) {
      inputs.emplace_back(std::move(*record));
    } else if (auto* assigned = std::get_if<PartitionAssigned>(&event)) {
      inputs.emplace_back(*assigned);
    } else if (auto* revoked = std::get_if<PartitionRevoked>(&event)) {
      inputs.emplace_back(*revoked);
    } else {
      // The log is shorter than what was consumed of it. A new start takes the partition over from
      // what the log holds now, and sets right (or reports) what was lost.
      const auto& trouble = std::get<kafka::PartitionTrouble>(event);
      throw std::runtime_error("partition " + std::to_string(trouble.partition) + " at offset " +
                               std::to_string(trouble.position) + ": " + trouble.reason +
                               "; starting again takes it over from what the log holds");
    }
  }

  void ShowLag(const Now& now) {
    if (now.mono < lag_at_) return;
    lag_at_ = now.mono + kLagEvery;
    for (auto& [partition, gauge] : lag_) gauge->Set(0);  // not ours any more, unless seen below
    for (const auto& lag : consumer_.Lags()) {
      auto& gauge = lag_[lag.partition];
      if (gauge == nullptr) {
        prometheus::Labels labels = labels_;
        labels["partition"] = std::to_string(lag.partition);
        gauge = &daemon::AddGauge(registry_, "fanline_lag_records",
                                  "Records between what was consumed and the log's end", labels);
      }
      if (lag.records >= 0) gauge->Set(static_cast<double>(lag.records));
    }
  }

  kafka::Consumer& consumer_;
  daemon::Inbox<Input>& inbox_;
  Logic& logic_;
  prometheus::Registry& registry_;
  const prometheus::Labels labels_;
  std::vector<kafka::ConsumerEvent> events_;
  std::map<int32_t, prometheus::Gauge*> lag_;
  Time lag_at_{};
};

}  // namespace fanline::wiring
