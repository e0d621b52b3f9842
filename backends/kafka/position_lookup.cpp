#include "backends/kafka/position_lookup.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "backends/kafka/errors.h"
#include "backends/kafka/record_times.h"
#include "fanline/base/number.h"

namespace fanline::kafka {
namespace {

// The limit of one call. A broker that is away holds up this thread only.
constexpr int kCallTimeoutMs = 3000;
constexpr Backoff kBackoff{std::chrono::milliseconds(50), std::chrono::seconds(3)};

std::optional<UnixMs> ReadUntil(const rd_kafka_topic_partition_t& committed) {
  if (committed.metadata == nullptr) return std::nullopt;
  return ParseNumber<UnixMs>(
      {static_cast<const char*>(committed.metadata), committed.metadata_size});
}

}  // namespace

struct PositionLookup::Shared {
  Shared(Client& client_in, std::string topic_in, std::function<void()> wake_in)
      : client(client_in), topic(std::move(topic_in)), wake(std::move(wake_in)) {}

  Client& client;
  const std::string topic;

  std::mutex mutex;
  std::condition_variable changed;
  // All below is guarded by mutex.
  std::function<void()> wake;
  bool stop = false;
  bool ended = false;
  uint64_t assignment = 0;
  std::vector<int32_t> unanswered;  // of `assignment`
  uint32_t attempts = 0;
  Time ask_at{};
  struct Ends {
    std::vector<int32_t> partitions;
    bool alone;  // after a call for all of them failed: one of their brokers may be silent
  };
  std::deque<Ends> ends_wanted;
  std::optional<Time> wake_at;
  Answers answers;

  void TurnOnce(std::unique_lock<std::mutex>& lock);
  void LookUpPositions(std::unique_lock<std::mutex>& lock);
  void LookUpEnds(std::unique_lock<std::mutex>& lock);
  std::vector<Position> Positions(uint64_t of, const std::vector<int32_t>& partitions);
  bool Offsets(const std::vector<int32_t>& partitions, int64_t which, PartitionList* found);
  bool ByTime(PartitionList* times);
  rd_kafka_resp_err_t Ask(PartitionList* times);
  bool Reread(std::vector<Position>& found);
  bool Answered(const char* what, rd_kafka_resp_err_t error);
  void LogFailure(const char* what, rd_kafka_resp_err_t error);
  void Wake() {
    if (wake) wake();
  }
};

PositionLookup::PositionLookup(Client& client, std::string topic, std::function<void()> wake)
    : shared_(std::make_shared<Shared>(client, std::move(topic), std::move(wake))),
      thread_([shared = shared_] { Run(shared); }) {}

PositionLookup::~PositionLookup() {
  if (thread_.joinable()) (void)Stop(std::chrono::milliseconds(3 * kCallTimeoutMs));
}

void PositionLookup::AskPositions(uint64_t assignment, std::vector<int32_t> partitions) {
  const std::lock_guard lock(shared_->mutex);
  shared_->assignment = assignment;
  shared_->unanswered = std::move(partitions);
  shared_->attempts = 0;
  shared_->ask_at = {};
  shared_->changed.notify_one();
}

void PositionLookup::AskAgain(uint64_t assignment, int32_t partition) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->assignment != assignment) return;
  std::erase(shared_->unanswered, partition);
  shared_->unanswered.push_back(partition);
  shared_->changed.notify_one();
}

void PositionLookup::AskEnds(std::vector<int32_t> partitions) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->ends_wanted.empty()) shared_->ends_wanted.push_back({std::move(partitions), false});
  shared_->changed.notify_one();
}

void PositionLookup::WakeAfter(Duration delay) {
  const std::lock_guard lock(shared_->mutex);
  const Time at = MonoNow() + delay;
  if (shared_->wake_at && *shared_->wake_at <= at) return;
  shared_->wake_at = at;
  shared_->changed.notify_one();
}

PositionLookup::Answers PositionLookup::Take() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->answers, {});
}

bool PositionLookup::Stop(Duration limit) {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_one();
  const bool ended = shared_->changed.wait_for(lock, limit, [&] { return shared_->ended; });
  shared_->wake = nullptr;
  lock.unlock();
  ended ? thread_.join() : thread_.detach();
  return ended;
}

void PositionLookup::Run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (!shared->stop) shared->TurnOnce(lock);
  shared->ended = true;
  shared->changed.notify_all();
}

void PositionLookup::Shared::TurnOnce(std::unique_lock<std::mutex>& lock) {
  const Time now = MonoNow();
  if (wake_at && *wake_at <= now) {
    wake_at.reset();
    Wake();
  }
  if (!unanswered.empty() && ask_at <= now) return LookUpPositions(lock);
  if (!ends_wanted.empty()) return LookUpEnds(lock);

  Time until = now + std::chrono::hours(1);
  if (wake_at) until = std::min(until, *wake_at);
  if (!unanswered.empty()) until = std::min(until, ask_at);
  changed.wait_until(lock, until);
}

void PositionLookup::Shared::LookUpPositions(std::unique_lock<std::mutex>& lock) {
  const uint64_t asked = assignment;
  const std::vector<int32_t> partitions = unanswered;
  lock.unlock();
  std::vector<Position> found = Positions(asked, partitions);
  lock.lock();
  if (assignment != asked) return;  // replaced by a newer one

  for (const Position& position : found) std::erase(unanswered, position.partition);
  if (!unanswered.empty()) {
    const auto random = static_cast<uint64_t>(Clock::now().time_since_epoch().count());
    ask_at = MonoNow() + kBackoff.Delay(++attempts, random);
  }
  if (found.empty()) return;
  answers.positions.insert(answers.positions.end(), found.begin(), found.end());
  Wake();
}

std::vector<PositionLookup::Position> PositionLookup::Shared::Positions(
    uint64_t of, const std::vector<int32_t>& partitions) {
  PartitionList committed = ListOf(topic, partitions, RD_KAFKA_OFFSET_INVALID);
  const rd_kafka_resp_err_t error =
      rd_kafka_committed(client.get(), committed.get(), kCallTimeoutMs);
  if (!Answered("looking up committed offsets", error)) return {};
  // The end last: a log that grows meanwhile does not look too short.
  PartitionList lows;
  PartitionList ends;
  if (!Offsets(partitions, RD_KAFKA_OFFSET_BEGINNING, &lows)) return {};
  if (!Offsets(partitions, RD_KAFKA_OFFSET_END, &ends)) return {};

  std::vector<Position> found;
  for (const int32_t partition : partitions) {
    const auto* group =
        rd_kafka_topic_partition_list_find(committed.get(), topic.c_str(), partition);
    const auto* low = rd_kafka_topic_partition_list_find(lows.get(), topic.c_str(), partition);
    const auto* end = rd_kafka_topic_partition_list_find(ends.get(), topic.c_str(), partition);
    if (group->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      LogFailure("looking up a committed offset", group->err);
    } else if (low->err != RD_KAFKA_RESP_ERR_NO_ERROR || low->offset < 0) {
      LogFailure("looking up where a log begins", low->err);
    } else if (end->err != RD_KAFKA_RESP_ERR_NO_ERROR || end->offset < 0) {
      LogFailure("looking up where a log ends", end->err);
    } else {
      const bool none = group->offset == RD_KAFKA_OFFSET_INVALID;
      const auto start = none ? std::nullopt : std::optional(group->offset);
      found.push_back({of, partition, start, low->offset, end->offset, ReadUntil(*group)});
    }
  }
  if (!Reread(found)) return {};
  return found;
}

// Adds `reread` to each position, by the times of records.
bool PositionLookup::Shared::Reread(std::vector<Position>& found) {
  PartitionList times = NewPartitionList(found.size());
  for (const Position& each : found)
    if (each.read_until)
      rd_kafka_topic_partition_list_add(times.get(), topic.c_str(), each.partition)->offset =
          std::max<UnixMs>(*each.read_until - kLateStamps, 0);
  if (times->cnt == 0) return true;
  if (!ByTime(&times)) return false;
  std::erase_if(found, [&](Position& each) {
    if (!each.read_until) return false;
    const auto* at = rd_kafka_topic_partition_list_find(times.get(), topic.c_str(), each.partition);
    if (at->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      LogFailure("looking up records by their time", at->err);
      return true;
    }
    // Later records may have older timestamps: a producer may be catching up.
    each.reread = at->offset < 0 ? each.low : at->offset;
    return false;
  });
  return true;
}

void PositionLookup::Shared::LookUpEnds(std::unique_lock<std::mutex>& lock) {
  const Ends wanted = std::move(ends_wanted.front());
  ends_wanted.pop_front();
  lock.unlock();
  PartitionList list = ListOf(topic, wanted.partitions, RD_KAFKA_OFFSET_END);
  const Time asked_at = MonoNow();
  const bool answered = wanted.alone ? Ask(&list) == RD_KAFKA_RESP_ERR_NO_ERROR : ByTime(&list);
  lock.lock();
  if (!answered) {
    if (!wanted.alone && wanted.partitions.size() > 1) {
      for (const int32_t each : wanted.partitions) ends_wanted.push_back({{each}, true});
    }
    return Wake();
  }
  if (!wanted.alone) answers.untold.emplace();
  for (int i = 0; i < list->cnt; ++i) {
    const rd_kafka_topic_partition_t& end = list->elems[i];
    if (end.err != RD_KAFKA_RESP_ERR_NO_ERROR && answers.untold)
      (*answers.untold)[end.partition] = Describe(end.err);
    else if (end.err == RD_KAFKA_RESP_ERR_NO_ERROR && end.offset >= 0)
      answers.ends.push_back({end.partition, end.offset, asked_at});
  }
  Wake();
}

// rd_kafka_offsets_for_times passes the two special times on to the brokers, in one request per
// broker, and keeps its timeout. rd_kafka_query_watermark_offsets of librdkafka 2.0 does neither.
bool PositionLookup::Shared::Offsets(const std::vector<int32_t>& partitions, int64_t which,
                                     PartitionList* found) {
  *found = ListOf(topic, partitions, which);
  return ByTime(found);
}
bool PositionLookup::Shared::ByTime(PartitionList* times) {
  return Answered("looking up the ends of logs", Ask(times));
}
rd_kafka_resp_err_t PositionLookup::Shared::Ask(PartitionList* times) {
  const rd_kafka_resp_err_t error =
      rd_kafka_offsets_for_times(client.get(), times->get(), kCallTimeoutMs);
  // The call answers so when none of them has a leader. Each says it of itself.
  const bool none_led =
      error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION &&
      std::all_of((*times)->elems, (*times)->elems + (*times)->cnt,
                  [](auto& each) { return each.err == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE; });
  return none_led ? RD_KAFKA_RESP_ERR_NO_ERROR : error;
}

// Records the result of a call. Must not be called with the mutex held.
bool PositionLookup::Shared::Answered(const char* what, rd_kafka_resp_err_t error) {
  const bool answered = error == RD_KAFKA_RESP_ERR_NO_ERROR;
  const std::string words = client.Describe(error);
  if (!answered) LogFailure(what, error);
  const std::lock_guard lock(mutex);
  answers.failure = answered ? std::string() : what + (": " + words);
  return answered;
}

void PositionLookup::Shared::LogFailure(const char* what, rd_kafka_resp_err_t error) {
  client.log().Log(LogLevel::kWarn, what,
                   "kafka: " + topic + ": " + what + ": " + Describe(error) + "; will ask again");
}

}  // namespace fanline::kafka
