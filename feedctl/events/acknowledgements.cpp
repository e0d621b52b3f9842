#include "feedctl/events/acknowledgements.h"

namespace fanline::feedctl {

void Acknowledgements::Expect() {
  const std::lock_guard lock(mutex_);
  ++expected_;
}

void Acknowledgements::Answer(const Status& status) {
  const std::lock_guard lock(mutex_);
  if (status.done()) {
    ++acknowledged_;
  } else if (failed_++ == 0) {
    failure_ = status;
  }
  answered_.notify_all();
}

void Acknowledgements::AwaitAtMost(uint64_t unanswered) {
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [&] { return expected_ - acknowledged_ - failed_ <= unanswered; });
}

uint64_t Acknowledgements::acknowledged() const {
  const std::lock_guard lock(mutex_);
  return acknowledged_;
}

Status Acknowledgements::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace fanline::feedctl
