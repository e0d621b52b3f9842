#include "mirror/heard.h"

#include <algorithm>
#include <utility>

namespace fanline::mirror {

void Heard::Add(const std::vector<uint64_t>& ids, Time now) {
  if (now >= told_since_ + limits_.told_within) {
    told_since_ = now;
    told_ = 0;
  }
  told_ += ids.size();
  if (now >= told_now_since_ + 2 * limits_.belled_poll_every) {
    told_now_since_ = now;
    told_before_ = std::exchange(told_now_, {});
  }
  for (const uint64_t id : ids) {
    if (told_now_.size() < limits_.most_heard) told_now_.insert(id);
    if (untold_) untold_->erase(id);
  }
  const size_t room = limits_.most_heard - std::min(limits_.most_heard, first_.size());
  const size_t taken = std::min(ids.size(), room);
  first_.insert(first_.end(), ids.begin(), ids.begin() + static_cast<ptrdiff_t>(taken));
}

std::optional<std::vector<uint64_t>> Heard::Next(Time now) {
  if (reading() || (first_.empty() && (again_.empty() || now < opens_at_))) return std::nullopt;
  std::vector<uint64_t> ids;
  const auto take = [&](std::deque<uint64_t>& from, std::set<uint64_t>& asked) {
    while (!from.empty() && ids.size() < limits_.rows_per_question) {
      asked.insert(from.front());
      ids.push_back(from.front());
      from.pop_front();
    }
  };
  take(again_, asked_again_);
  take(first_, asked_first_);
  opens_at_ = now + apart_;
  return ids;
}

uint64_t Heard::Done(const std::vector<LoggedChange>& found) {
  for (const LoggedChange& change : found) {
    asked_first_.erase(change.id);
    asked_again_.erase(change.id);
  }
  again_.insert(again_.end(), asked_first_.begin(), asked_first_.end());
  const uint64_t missed = asked_again_.size();
  asked_first_.clear();
  asked_again_.clear();
  return missed;
}

bool Heard::IsSilent(const std::vector<uint64_t>& read, Time now) {
  if (untold_ && !untold_->empty()) return now >= untold_at_ + limits_.belled_poll_every;
  const bool first = !untold_;
  untold_.emplace();
  if (first) return false;
  untold_at_ = now;
  for (const uint64_t id : read) {
    if (!WasTold(id)) untold_->insert(id);
  }
  return false;
}

void Heard::Forget() {
  first_.clear();
  again_.clear();
  told_ = 0;
}

void Heard::Failed() {
  Forget();
  asked_first_.clear();
  asked_again_.clear();
}

std::optional<Time> Heard::timer() const {
  if (reading()) return std::nullopt;
  return first_.empty() ? opens_at_ : Time{};
}

}  // namespace fanline::mirror
