#include "feedctl/log_marks.h"

#include <utility>

namespace fanline::feedctl {

void LogMarks::Sent(uint64_t id, const mysql::LoggedRow& row) {
  const std::lock_guard lock(mutex_);
  under_way_[id] = row;
}

void LogMarks::Answer(uint64_t id, const Status& status) {
  const std::lock_guard lock(mutex_);
  const auto found = under_way_.find(id);
  if (found == under_way_.end()) return;
  if (status.done()) acknowledged_.push_back(found->second);
  under_way_.erase(found);
}

std::vector<mysql::LoggedRow> LogMarks::Take(size_t at_least) {
  const std::lock_guard lock(mutex_);
  if (acknowledged_.size() < at_least) return {};
  return std::exchange(acknowledged_, {});
}

}  // namespace fanline::feedctl
