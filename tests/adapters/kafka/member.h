// A consumer used like a daemon's loop does: it sleeps on the descriptor, polls, and keeps the
// events.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "backends/kafka/consumer.h"

namespace fanline::kafka::test {

class Member {
 public:
  static constexpr std::chrono::seconds kPatience{30};

  explicit Member(ConsumerOptions options)
      : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), options_(std::move(options)) {
    options_.wake_fd = fd_;
    consumer_ = std::make_unique<Consumer>(options_, LogSink());
  }
  ~Member() {
    consumer_.reset();
    close(fd_);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  Consumer& consumer() { return *consumer_; }
  void Apply(const ConsumerOrders& orders) { consumer_->Apply(orders); }
  void Seek(int32_t partition, int64_t offset) { Apply({{{partition, offset}}, {}, {}, {}}); }
  void Pause(int32_t partition) { Apply({{}, {partition}, {}, {}}); }
  void Resume(int32_t partition) { Apply({{}, {}, {partition}, {}}); }
  void Commit(int32_t partition, int64_t offset) { Apply({{}, {}, {}, {{partition, offset}}}); }

  // One turn: sleeps until woken, at most `wait`, and polls.
  void Turn(std::chrono::milliseconds wait, size_t max_records = 1000) {
    woken_ += Sleep(wait);
    consumer_->Poll(max_records, events);
  }
  // Returns whether it was woken before `wait` was over.
  bool Sleep(std::chrono::milliseconds wait) {
    pollfd readable{.fd = fd_, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, static_cast<int>(wait.count())) <= 0) return false;
    uint64_t count = 0;
    return read(fd_, &count, sizeof count) == sizeof count;
  }

  // Turns until `condition` holds. Returns false if it did not within the patience.
  template <typename Condition>
  bool Until(Condition condition, std::chrono::milliseconds patience = kPatience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      Turn(std::chrono::milliseconds(100));
    }
    return true;
  }

  template <typename Event>
  std::vector<Event> All() const {
    std::vector<Event> found;
    for (const ConsumerEvent& event : events)
      if (const auto* one = std::get_if<Event>(&event)) found.push_back(*one);
    return found;
  }
  bool Assigned(size_t partitions) {
    return Until([&] { return All<PartitionAssigned>().size() >= partitions; });
  }

  // The offsets delivered from a partition, in order.
  std::vector<int64_t> Offsets(int32_t partition) const {
    std::vector<int64_t> offsets;
    for (const ConsumerEvent& event : events)
      if (const auto* record = std::get_if<Record>(&event))
        if (record->partition == partition) offsets.push_back(record->offset);
    return offsets;
  }
  bool Delivered(int32_t partition, size_t records) {
    return Until([&] { return Offsets(partition).size() >= records; });
  }

  std::vector<ConsumerEvent> events;
  size_t woken() const { return woken_; }

 private:
  const int fd_;
  ConsumerOptions options_;
  std::unique_ptr<Consumer> consumer_;
  size_t woken_ = 0;
};

inline std::vector<int64_t> OffsetsFromTo(int64_t first, int64_t end) {
  std::vector<int64_t> offsets;
  for (int64_t offset = first; offset < end; ++offset) offsets.push_back(offset);
  return offsets;
}

}  // namespace fanline::kafka::test
