#include "daemon/wakeup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace fanline::daemon {
namespace {

timespec ToTimespec(Duration duration) {
  const auto us = std::max<Duration::rep>(duration.count(), 0);
  return {.tv_sec = us / 1'000'000, .tv_nsec = us % 1'000'000 * 1000};
}

}  // namespace

Wakeup::Wakeup() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Wakeup::~Wakeup() { close(fd_); }

void Wakeup::Notify() const noexcept {
  const int saved_errno = errno;  // a signal handler must not change it for the interrupted code
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the loop is being woken anyway.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
  errno = saved_errno;
}

bool Wakeup::Wait(std::optional<Duration> timeout) const {
  pollfd readable{.fd = fd_, .events = POLLIN, .revents = 0};
  const timespec limit = ToTimespec(timeout.value_or(Duration::zero()));
  if (ppoll(&readable, 1, timeout ? &limit : nullptr, nullptr) <= 0) return false;
  uint64_t count = 0;
  return read(fd_, &count, sizeof count) == sizeof count;
}

}  // namespace fanline::daemon
