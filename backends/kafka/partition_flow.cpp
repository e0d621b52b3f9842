#include "backends/kafka/partition_flow.h"

#include <utility>

#include "backends/kafka/errors.h"

namespace fanline::kafka {
namespace {

constexpr int kSeekTimeoutMs = 1000;
// A fetcher refuses to seek while it starts or stops, and for ever once it gave up (the offset was
// out of range). A fetcher that refuses for this long is restarted.
constexpr Duration kPatience = std::chrono::milliseconds(500);

}  // namespace

PartitionFlow::PartitionFlow(Client& client, std::string topic)
    : client_(client), topic_(std::move(topic)) {}

void PartitionFlow::Assign(const std::vector<int32_t>& partitions) {
  partitions_.clear();
  for (const int32_t partition : partitions) partitions_[partition] = {};
  refusing_since_.reset();
  AssignAll();
}

void PartitionFlow::Unassign() {
  partitions_.clear();
  refusing_since_.reset();
  const rd_kafka_resp_err_t error = rd_kafka_assign(client_.get(), nullptr);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
    client_.log().Log(LogLevel::kError, "unassign",
                      "kafka: giving up partitions: " + Describe(error));
}

void PartitionFlow::Seek(int32_t partition, int64_t offset) {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end()) return;
  found->second.next = offset;
  found->second.paused = false;
  found->second.parked = false;
  found->second.moved = true;
}

void PartitionFlow::Pause(int32_t partition) {
  const auto found = partitions_.find(partition);
  if (found != partitions_.end()) found->second.paused = true;
}

void PartitionFlow::Resume(int32_t partition) {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end() || !found->second.paused || !found->second.next) return;
  found->second.paused = false;
  // A fetcher that still runs needs no seek: it was paused and resumed between two Settles.
  if (!found->second.fetching) found->second.moved = true;
}

bool PartitionFlow::Settle(Time now) {
  PauseFetchers();
  const bool moved = MoveFetchers(now);
  return ResumeFetchers() && moved;
}

bool PartitionFlow::Accept(int32_t partition, int64_t offset) {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end()) return false;
  Partition& state = found->second;
  if (state.still() || state.moved || offset < *state.next) return false;
  state.next = offset + 1;
  return true;
}

bool PartitionFlow::Park(int32_t partition) {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end() || found->second.moved || found->second.still()) return false;
  found->second.parked = true;
  return true;
}

void PartitionFlow::GoOn(int32_t partition) {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end() || !found->second.parked) return;
  found->second.parked = false;
  found->second.moved = !found->second.paused;
}

void PartitionFlow::Forget(int32_t partition) {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end()) return;
  const bool fetching = found->second.fetching;
  found->second = {};
  found->second.fetching = fetching;
}

std::vector<int32_t> PartitionFlow::owned() const {
  std::vector<int32_t> owned;
  owned.reserve(partitions_.size());
  for (const auto& [partition, state] : partitions_) owned.push_back(partition);
  return owned;
}

std::optional<int64_t> PartitionFlow::next(int32_t partition) const {
  const auto found = partitions_.find(partition);
  return found == partitions_.end() ? std::nullopt : found->second.next;
}

PartitionList PartitionFlow::List(bool (*wanted)(const Partition&)) const {
  PartitionList list = NewPartitionList(partitions_.size());
  for (const auto& [partition, state] : partitions_) {
    if (!wanted(state)) continue;
    rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), partition)->offset =
        state.next.value_or(0);
  }
  return list;
}

void PartitionFlow::PauseFetchers() {
  const PartitionList list = List([](const Partition& p) { return p.still() && p.fetching; });
  if (list->cnt == 0) return;
  rd_kafka_pause_partitions(client_.get(), list.get());
  for (int i = 0; i < list->cnt; ++i) partitions_[list->elems[i].partition].fetching = false;
}

bool PartitionFlow::MoveFetchers(Time now) {
  const PartitionList list = List([](const Partition& p) { return p.moved; });
  if (list->cnt == 0) return true;
  if (refusing_since_ && now - *refusing_since_ > kPatience) {
    Reassign();
    return true;
  }
  const bool all = SeekAll(list, [](Partition& p, bool done) { p.moved = !done; });
  if (all)
    refusing_since_.reset();
  else if (!refusing_since_)
    refusing_since_ = now;
  return all;
}

bool PartitionFlow::ResumeFetchers() {
  const PartitionList list =
      List([](const Partition& p) { return !p.still() && !p.moved && !p.fetching; });
  if (list->cnt == 0) return true;
  rd_kafka_resume_partitions(client_.get(), list.get());
  // A seek wakes the fetching thread, which may sleep for a second; a resume does not. A refused
  // seek (the fetcher is still starting) is repeated: after a resume alone, restarted fetchers were
  // seen to fetch nothing.
  return SeekAll(list, [](Partition& p, bool done) { p.fetching = done; });
}

bool PartitionFlow::SeekAll(const PartitionList& list, void (*note)(Partition&, bool done)) {
  const ErrorHandle error(rd_kafka_seek_partitions(client_.get(), list.get(), kSeekTimeoutMs));
  bool all = true;
  for (int i = 0; i < list->cnt; ++i) {
    const bool done = list->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR;
    note(partitions_[list->elems[i].partition], done);
    all &= done;
  }
  return all;
}

// Restarts all fetchers, each at its own next offset. Records fetched and not yet delivered are
// fetched again.
void PartitionFlow::Reassign() {
  client_.log().Log(LogLevel::kInfo, "reassign", "kafka: " + topic_ + ": starting fetchers anew");
  AssignAll();
  for (auto& [partition, state] : partitions_) state.moved = false;
  refusing_since_.reset();
}

// A pause sets a flag on each partition that librdkafka knows, started or not. The pause before the
// assignment keeps those from fetching; the one after it reaches the new partitions.
void PartitionFlow::AssignAll() {
  for (auto& [partition, state] : partitions_) state.fetching = false;
  const PartitionList all = List([](const Partition&) { return true; });
  if (all->cnt > 0) rd_kafka_pause_partitions(client_.get(), all.get());
  const rd_kafka_resp_err_t error = rd_kafka_assign(client_.get(), all.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
    client_.log().Log(LogLevel::kError, "assign", "kafka: taking partitions: " + Describe(error));
  if (all->cnt > 0) rd_kafka_pause_partitions(client_.get(), all.get());
}

}  // namespace fanline::kafka
