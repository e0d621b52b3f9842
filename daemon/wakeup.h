// A loop sleeps on it: any thread wakes the loop, a timer bounds its sleep. An eventfd.
#pragma once

#include <optional>

#include "fanline/base/time.h"

namespace fanline::daemon {

class Wakeup {
 public:
  Wakeup();  // throws std::system_error when the process has no file descriptor left
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  // Ends the Wait in progress, or the next one. Notifications before a Wait count as one.
  // Any thread; also from a signal handler.
  void Notify() const noexcept;

  // Sleeps until a notification or until `timeout` has passed (never early; rounded up to the
  // kernel's clock), for ever without one. True: notified, and the notification is used up.
  // A signal may end it early with false. One thread.
  bool Wait(std::optional<Duration> timeout) const;

  // For a client library that wakes its user by writing to a descriptor: 8 bytes, a uint64 of 1
  // in host order (librdkafka's rd_kafka_queue_io_event_enable).
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace fanline::daemon
