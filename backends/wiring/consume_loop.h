// The turn of a consuming daemon: records and completions in, orders out. The logic (Dispatcher,
// Pusher, ...) is a type with Step(span<Input>, Now), StopTaking() and drained(). The loop shows
// how far the group is behind. In the readiness it shows whether brokers answer and partitions can
// be read: a daemon is ready while any partition can be read.
//
// If the group has expelled the member (Consumer::Fenced), the process refuses to go on. The logic
// still drains, so that others learn of its end.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backends/kafka/consumer.h"
#include "daemon/inbox.h"
#include "daemon/observe/metrics.h"
#include "daemon/run/process.h"
#include "daemon/run/run.h"
#include "fanline/base/gather.h"

namespace fanline::wiring {

template <typename Logic, typename Input>
class ConsumeLoop {
 public:
  // All outlive this object. `topic` is the consumer's. Records may wait up to `gather` for more
  // (fanline/base/gather.h). `on_owned` is told once a second which partitions are ours, in order.
  ConsumeLoop(kafka::Consumer& consumer, const std::string& topic, daemon::Inbox<Input>& inbox,
              Logic& logic, daemon::Process& process, Duration gather = Duration::zero(),
              std::function<void(std::vector<int32_t> partitions)> on_owned = {})
      : consumer_(consumer),
        inbox_(inbox),
        logic_(logic),
        process_(process),
        resource_("kafka_" + topic),
        labels_{{"topic", topic}},
        gather_(gather),
        on_owned_(std::move(on_owned)),
        pace_(gather),
        lag_seconds_(daemon::AddGauge(
            process.registry, "fanline_lag_seconds",
            "How long the oldest record that is not committed has been in its log", labels_)),
        parked_(daemon::AddGauge(process.registry, "fanline_partitions_parked",
                                 "Partitions whose log cannot be read on", labels_)) {}

  daemon::StepResult Step(const Now& now) {
    TakeEvents(now.mono);
    if (consumer_.Fenced()) process_.Refuse(*consumer_.Fenced());
    // Events of the log come first, because a reply may be about a partition that was just revoked.
    std::vector<Input> inputs;
    inputs.reserve(events_.size());
    for (auto& event : events_) Take(std::move(event), inputs);
    for (auto& reply : inbox_.Drain()) inputs.push_back(std::move(reply));
    const auto progress = logic_.Step(inputs, now);
    consumer_.Apply(progress.orders);
    Show(now);
    return {!inputs.empty(), Earlier(progress.next_timer, look_at_)};
  }

  // Finishes the work under way, then leaves the group, so that another member takes over at once.
  daemon::DrainResult Drain(const Now& now) {
    logic_.StopTaking();
    const daemon::StepResult turn = Step(now);
    const bool done = logic_.drained();
    if (done) consumer_.Close(kCloseLimit);
    return {done, turn.did_work, turn.next_timer};
  }

 private:
  static constexpr size_t kRecordsPerTurn = 2'000;
  static constexpr Duration kCloseLimit = std::chrono::seconds(5);
  static constexpr Duration kShowEvery = std::chrono::seconds(1);

  // Looks at the log whenever its time has come, whatever woke the loop. It may hold something by
  // then.
  void TakeEvents(Time now) {
    events_.clear();
    look_at_.reset();
    if (!pace_.open(now)) {
      look_at_ = pace_.opens_at();
      return;
    }
    consumer_.Poll(kRecordsPerTurn, events_);
    // After a full turn more records are left. A backlog does not wait.
    if (events_.empty() || events_.size() >= kRecordsPerTurn) return;
    pace_.Started(now);
    look_at_ = pace_.opens_at();
    // A little earlier, so that the log's records are here by then.
    consumer_.RestUntil(*look_at_ - gather_ / 8);
  }

  void Take(kafka::ConsumerEvent event, std::vector<Input>& inputs) {
    if (auto* record = std::get_if<Record>(&event)) {
      inputs.emplace_back(std::move(*record));
    } else if (auto* assigned = std::get_if<PartitionAssigned>(&event)) {
      inputs.emplace_back(*assigned);
    } else if (auto* revoked = std::get_if<PartitionRevoked>(&event)) {
      inputs.emplace_back(*revoked);
    } else if constexpr (std::is_constructible_v<Input, LogEndSeen>) {
      inputs.emplace_back(std::get<LogEndSeen>(event));
    }
  }

  void Show(const Now& now) {
    if (now.mono < show_at_) return;
    show_at_ = now.mono + kShowEvery;
    ShowLag(now);
    ShowHealth();
  }

  void ShowLag(const Now& now) {
    const auto lags = consumer_.Lags(now.unix_ms);
    owned_ = lags.size();
    for (auto& [partition, gauge] : lag_) {
      const bool ours =
          std::any_of(lags.begin(), lags.end(),
                      [number = partition](const auto& lag) { return lag.partition == number; });
      if (!ours) gauge->Set(0);
    }
    std::chrono::milliseconds oldest{0};
    std::vector<int32_t> owned;
    for (const auto& lag : lags) {
      owned.push_back(lag.partition);
      auto& gauge = lag_[lag.partition];
      if (gauge == nullptr) {
        prometheus::Labels labels = labels_;
        labels["partition"] = std::to_string(lag.partition);
        gauge = &daemon::AddGauge(process_.registry, "fanline_lag_records",
                                  "Records between what is committed and the log's end", labels);
      }
      if (lag.records < 0) continue;
      gauge->Set(static_cast<double>(lag.records));
      oldest = std::max(oldest, lag.age);
    }
    lag_seconds_.Set(std::chrono::duration<double>(oldest).count());
    if (on_owned_) on_owned_(std::move(owned));
  }

  void ShowHealth() {
    const auto parked = consumer_.AllParked();
    parked_.Set(static_cast<double>(parked.size()));
    const auto unreachable = consumer_.Unreachable();
    if (!unreachable) return;
    using daemon::Reach;
    if (!unreachable->empty()) return State(Reach::kAway, *unreachable);
    std::map<int32_t, std::string> unread = consumer_.Leaderless();
    for (const auto& each : parked) unread[each.partition] = each.reason;
    if (unread.empty()) return State(Reach::kWhole, "");
    State(unread.size() < owned_ ? Reach::kEnough : Reach::kAway, unread.begin()->second);
  }

  void State(daemon::Reach reach, const std::string& reason) {
    process_.health.SetReach(resource_, "kafka", reach, reason);
  }

  kafka::Consumer& consumer_;
  daemon::Inbox<Input>& inbox_;
  Logic& logic_;
  daemon::Process& process_;
  const std::string resource_;
  const prometheus::Labels labels_;
  const Duration gather_;
  const std::function<void(std::vector<int32_t> partitions)> on_owned_;
  GatherPace pace_;
  std::optional<Time> look_at_;
  std::vector<kafka::ConsumerEvent> events_;
  std::map<int32_t, prometheus::Gauge*> lag_;
  size_t owned_ = 0;  // partitions, at the last look
  prometheus::Gauge& lag_seconds_;
  prometheus::Gauge& parked_;
  Time show_at_{};
};

}  // namespace fanline::wiring
