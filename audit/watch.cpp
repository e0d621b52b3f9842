#include "audit/watch.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace fanline::audit {

namespace {
constexpr Duration kAskAgain = std::chrono::seconds(1);  // whether the hints are applied
}

Time Watch::Step(const Progress& progress, Time now) {
  Forget(progress);
  Status status = LookAgain(progress, now);
  if (!round_at_ || *round_at_ <= now) {
    round_at_ = now + limits_.every;
    const Status round = Round(progress);
    if (round.done()) metrics_.RoundEnded();
    if (status.done()) status = round;
  }
  if (!status.done()) metrics_.Failed(status.resource, status.message);
  Show();
  Time next = *round_at_;
  if (status.done()) {
    for (const Suspect& suspect : suspects_) {
      next = std::min(next, std::max(suspect.since + limits_.again_after, now + kAskAgain));
    }
  }
  return next;
}

// Drops what is in ranges without known progress: they are not looked at.
void Watch::Forget(const Progress& progress) {
  const auto gone = [&](UserId reader) { return !progress.contains(layout_.RangeOf(reader)); };
  std::erase_if(suspects_, [&](const Suspect& suspect) { return gone(suspect.reader); });
  std::erase_if(judged_, [&](const auto& judged) { return gone(judged.first); });
  std::erase_if(listed_, gone);
  std::erase_if(cursors_, [&](const auto& walk) { return !progress.contains(walk.first); });
}

// An end asked for before `again_after` passed may lie below the hints of changes that were in
// flight at the first look.
bool Watch::IsSettled(Suspect& suspect, const RangeProgress& progress) const {
  if (!suspect.until) {
    if (progress.end_asked_at < suspect.since + limits_.again_after) return false;
    suspect.until = progress.end;
  }
  return progress.applied >= *suspect.until;
}

Status Watch::LookAgain(const Progress& progress, Time now) {
  for (auto suspect = suspects_.begin(); suspect != suspects_.end();) {
    if (now - suspect->since < limits_.again_after) break;  // those behind it are younger
    if (!IsSettled(*suspect, progress.at(layout_.RangeOf(suspect->reader)))) {
      const bool too_long = now - suspect->since >= limits_.longest_wait;
      if (too_long) metrics_.Judged(WatchMetrics::Result::kUnsettled, 0);
      suspect = too_long ? suspects_.erase(suspect) : suspect + 1;
      continue;
    }
    Look look;
    if (Status status = ports_.look(suspect->reader, &look); !status.done()) {
      Suspect waits = std::move(*suspect);
      suspects_.erase(suspect);
      waits.since = ports_.clock();
      suspects_.push_back(std::move(waits));
      return status;
    }
    auto wrong = InBoth(suspect->found, look.differences);
    const auto known = judged_.find(suspect->reader);
    const auto news = known == judged_.end() ? wrong : Without(wrong, known->second.wrong);
    if (!news.empty()) metrics_.Found(news);
    Judge(suspect->reader, look, std::move(wrong));
    suspect = suspects_.erase(suspect);
  }
  return Status::Done();
}

Status Watch::Round(const Progress& progress) {
  Status again = RecheckWrong();
  for (uint32_t looked = 0; looked < limits_.readers; ++looked) {
    std::optional<UserId> reader;
    if (Status status = Next(progress, &reader); !status.done()) return status;
    if (!reader) break;
    if (IsSuspect(*reader)) continue;
    if (Status status = LookAtNew(*reader); !status.done()) return status;
  }
  return again;
}

// They take turns if there are more than a round looks at.
Status Watch::RecheckWrong() {
  std::vector<UserId> readers;
  const auto add = [&](auto begin, auto end) {
    for (auto at = begin; at != end && readers.size() < limits_.wrong_again; ++at) {
      if (!at->second.wrong.empty()) readers.push_back(at->first);
    }
  };
  const auto behind = judged_.upper_bound(last_wrong_);
  add(behind, judged_.end());
  add(judged_.begin(), behind);
  for (const UserId reader : readers) {
    last_wrong_ = reader;
    Look look;
    if (Status status = ports_.look(reader, &look); !status.done()) return status;
    auto still = InBoth(judged_.at(reader).wrong, look.differences);
    if (still.size() < look.differences.size()) Suspected(reader, look.differences);
    if (look.judged || !still.empty()) {
      Remember(reader, look.items, std::move(still));
    } else if (look.gone || look.too_much) {
      judged_.erase(reader);
    }
  }
  return Status::Done();
}

Status Watch::LookAtNew(UserId reader) {
  const auto known = judged_.find(reader);
  if (known != judged_.end() && !known->second.wrong.empty()) return Status::Done();
  Look look;
  if (Status status = ports_.look(reader, &look); !status.done()) return status;
  if (look.differences.empty()) {
    Judge(reader, look, {});
  } else {
    Suspected(reader, std::move(look.differences));
  }
  return Status::Done();
}

// The next reader of the walks: a page of one range, then of the next.
Status Watch::Next(const Progress& progress, std::optional<UserId>* reader) {
  for (size_t asked = 0; listed_.empty() && asked < progress.size(); ++asked) {
    auto range = progress.upper_bound(last_range_);
    if (range == progress.end()) range = progress.begin();
    last_range_ = range->first;
    std::vector<UserId> readers;
    const Status status = ports_.listed(last_range_, &cursors_[last_range_], &readers);
    if (!status.done()) return status;
    listed_.insert(listed_.end(), readers.begin(), readers.end());
  }
  if (listed_.empty()) return Status::Done();
  *reader = listed_.front();
  listed_.pop_front();
  return Status::Done();
}

bool Watch::IsSuspect(UserId reader) const {
  return std::any_of(suspects_.begin(), suspects_.end(),
                     [reader](const Suspect& suspect) { return suspect.reader == reader; });
}

void Watch::Suspected(UserId reader, std::vector<Difference> found) {
  if (suspects_.size() >= limits_.suspects || IsSuspect(reader)) return;
  suspects_.push_back({.reader = reader, .found = std::move(found), .since = ports_.clock()});
}

void Watch::Judge(UserId reader, const Look& look, std::vector<Difference> wrong) {
  if (!look.judged && wrong.empty()) {
    judged_.erase(reader);
    if (!look.gone) metrics_.Judged(WatchMetrics::Result::kNotJudged, 0);
    return;
  }
  metrics_.Judged(wrong.empty() ? WatchMetrics::Result::kGood : WatchMetrics::Result::kWrong,
                  look.items);
  Remember(reader, look.items, std::move(wrong));
}

void Watch::Remember(UserId reader, uint64_t items, std::vector<Difference> wrong) {
  judged_[reader] = {.items = items, .wrong = std::move(wrong), .number = ++judgements_};
  if (judged_.size() <= limits_.remembered) return;
  judged_.erase(std::min_element(judged_.begin(), judged_.end(), [](const auto& a, const auto& b) {
    return a.second.number < b.second.number;
  }));
}

void Watch::Show() const {
  uint64_t items = 0, missing = 0;
  size_t wrong = 0;
  for (const auto& [reader, judged] : judged_) {
    const uint64_t its = MissingIn(judged.wrong);
    items += judged.items + its;  // what is and what should be
    missing += its;
    wrong += !judged.wrong.empty();
  }
  const double misses = items == 0
                            ? std::numeric_limits<double>::quiet_NaN()
                            : 10'000 * (static_cast<double>(missing) / static_cast<double>(items));
  metrics_.Holding(misses, wrong);
}

}  // namespace fanline::audit
