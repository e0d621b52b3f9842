// Why brokers refuse a client. Its calls only time out, as if no broker were there; the reason
// comes in a callback and is kept here.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "fanline/base/outcome.h"

namespace fanline::kafka {

// Any thread.
class Refusal {
 public:
  // `why` is a kLater.
  void Note(Status why) {
    const std::lock_guard lock(mutex_);
    why_ = std::move(why);
  }

  // A broker has answered a call.
  void Clear() { Note(Status::Done()); }

  // Done: no broker has refused us since one answered.
  Status why() const {
    const std::lock_guard lock(mutex_);
    return why_;
  }

 private:
  mutable std::mutex mutex_;
  Status why_;
};

}  // namespace fanline::kafka
