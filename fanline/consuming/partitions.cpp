#include "fanline/consuming/partitions.h"

#include <algorithm>

namespace fanline {

void Partitions::Assigned(const PartitionAssigned& assigned) {
  Partition& partition = partitions_[assigned.partition];
  partition = Partition{};
  partition.assignment = ++assignments_;
  const int64_t start = assigned.first();
  if (assigned.tail_lost()) {
    metrics_.TailLost(assigned.partition, assigned.start, assigned.end);
  } else if (start > assigned.start) {
    metrics_.LogGap(assigned.partition, assigned.start, start);
  }
  const bool unsure = !assigned.committed && assigned.low > 0;
  if (unsure) metrics_.NothingCommitted(assigned.partition, assigned.low);
  // Commit the moved start at once, or the next owner reports the loss again.
  if (start != assigned.start || unsure) commit_at_ = {};
  partition.ledger.Reset(start);
  DropSeek(assigned.partition);
  seeks_.push_back({assigned.partition, start});
  moved_ = true;
}

void Partitions::Revoked(const PartitionRevoked& revoked) {
  partitions_.erase(revoked.partition);
  DropSeek(revoked.partition);
  moved_ = true;
}

void Partitions::DropSeek(int32_t partition) {
  std::erase_if(seeks_, [&](const auto& seek) { return seek.partition == partition; });
}

std::optional<Partitions::Place> Partitions::Received(const Record& record) {
  const auto found = partitions_.find(record.partition);
  if (found == partitions_.end()) return std::nullopt;
  const bool seeking = std::any_of(seeks_.begin(), seeks_.end(), [&](const auto& seek) {
    return seek.partition == record.partition;
  });
  if (seeking || !found->second.ledger.Received(record.offset)) return std::nullopt;
  return Place{record.partition, record.offset, found->second.assignment};
}

void Partitions::Finished(const Place& place) {
  if (!Holds(place)) return;
  partitions_.at(place.partition).ledger.Finished(place.offset);
}

bool Partitions::Holds(const Place& place) const {
  const auto found = partitions_.find(place.partition);
  return found != partitions_.end() && found->second.assignment == place.assignment;
}

Progress Partitions::Order(const Load& load, bool at_once, Now now) {
  Progress progress;
  ConsumerOrders& orders = progress.orders;
  orders.seek = std::exchange(seeks_, {});
  const bool commit = at_once || now.mono >= commit_at_;
  if (commit) commit_at_ = now.mono + limits_.commit_every;
  const bool full = load.full || load.open >= limits_.open;
  const bool roomy = load.roomy && load.open <= limits_.open / 2;
  for (auto& [number, partition] : partitions_) {
    const int64_t committable = partition.ledger.committable();
    if (committable != partition.ordered) {
      if (commit) {
        partition.ordered = committable;
        orders.commit.push_back({number, committable});
      } else {
        progress.StepBy(commit_at_);
      }
    }
    const size_t span = partition.ledger.span();
    if (!partition.paused && (full || span >= limits_.span)) {
      partition.paused = true;
      orders.pause.push_back(number);
    } else if (partition.paused && roomy && span <= limits_.span / 2) {
      partition.paused = false;
      orders.resume.push_back(number);
    }
  }
  return progress;
}

uint64_t Partitions::commit_lag() const {
  uint64_t sum = 0;
  for (const auto& [number, partition] : partitions_) {
    const int64_t committable = partition.ledger.committable();
    const int64_t committed = partition.ordered < 0 ? committable : partition.ordered;
    sum += partition.ledger.span() + static_cast<uint64_t>(committable - committed);
  }
  return sum;
}

}  // namespace fanline
