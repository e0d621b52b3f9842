#include "fanline/consuming/offset_ledger.h"

#include "fanline/base/check.h"

namespace fanline {

void OffsetLedger::Reset(int64_t next) {
  base_ = next;
  done_.clear();
  open_ = 0;
}

bool OffsetLedger::Received(int64_t offset) {
  const int64_t next = base_ + static_cast<int64_t>(done_.size());
  if (offset < next) return false;
  if (done_.empty()) {
    base_ = offset;
  } else {
    done_.insert(done_.end(), static_cast<size_t>(offset - next), true);
  }
  done_.push_back(false);
  ++open_;
  return true;
}

void OffsetLedger::Finished(int64_t offset) {
  const int64_t index = offset - base_;
  FANLINE_CHECK(index >= 0 && index < static_cast<int64_t>(done_.size()), "an offset not received");
  FANLINE_CHECK(!done_[static_cast<size_t>(index)], "an offset finished twice");
  done_[static_cast<size_t>(index)] = true;
  --open_;
  while (!done_.empty() && done_.front()) {
    done_.pop_front();
    ++base_;
  }
}

}  // namespace fanline
