#include "mirror/reads.h"

#include <algorithm>

namespace fanline::mirror {

Reads::Reads(const Limits& limits, Shard shards, Duration gather, const MutationSwitches& switches)
    : limits_(limits), switches_(switches), cursors_(shards, 0), pace_(gather) {}

std::optional<uint64_t> Reads::Next(Time now, const std::function<bool(Shard)>& room) {
  if (reading_ || (retry_at_ && *retry_at_ > now)) return std::nullopt;
  retry_at_.reset();
  if (!known()) return Begin(Kind::kBacklog, 0);
  const bool new_due = poll_at_ <= now && pace_.open(now);
  if (new_due && !full_) return Begin(Kind::kNew, newest_);
  full_ = false;
  if (switches_.late_window) {
    const uint64_t from = seen_.front().second;
    if (const auto after = NextOfPass(Kind::kLate, late_, from, now)) return after;
  }
  if (const auto after = NextOfBacklog(room)) return after;
  if (switches_.late_window) {
    if (const auto after = NextOfPass(Kind::kSweep, sweep_, 0, now)) return after;
  }
  if (new_due) return Begin(Kind::kNew, newest_);
  return std::nullopt;
}

std::optional<uint64_t> Reads::Begin(Kind kind, uint64_t after) {
  reading_ = Reading{kind, after, doubts_};
  return after;
}

std::optional<uint64_t> Reads::NextOfPass(Kind kind, Pass& pass, uint64_t from, Time now) {
  if (pass.at > now) return std::nullopt;
  if (!pass.running) pass = {true, from, now, now};
  return Begin(kind, pass.after);
}

std::optional<uint64_t> Reads::NextOfBacklog(const std::function<bool(Shard)>& room) {
  for (size_t tried = 0; tried < cursors_.size(); ++tried) {
    turn_ = static_cast<Shard>((turn_ + 1) % cursors_.size());
    if (cursors_[turn_] < newest_ && room(turn_)) return Begin(Kind::kBacklog, cursors_[turn_]);
  }
  return std::nullopt;
}

void Reads::Note(const PendingRead& read, const std::vector<uint64_t>& missed, Time now) {
  const Reading reading = *std::exchange(reading_, std::nullopt);
  attempts_ = 0;
  if (reading.doubts != settled_) {
    BeginAnew(reading, read.newest, now);
  } else if (reading.after == 0 && read.newest < newest_) {
    Doubt();  // another server answers, and nobody noticed
  }
  const bool full = read.changes.size() >= limits_.rows_per_read;
  const uint64_t last = read.changes.empty() ? 0 : read.changes.back().id;
  if (reading.kind == Kind::kNew) {
    newest_ = std::max(newest_, last);
    full_ = full;
    poll_at_ = full                   ? now
               : belled_              ? now + limits_.belled_poll_every
               : read.changes.empty() ? now + limits_.poll_every
                                      : now;
    if (!full && !read.changes.empty()) pace_.Started(now);
  }
  const uint64_t end = full ? last : std::max(newest_, last);
  for (Shard shard = 0; shard < cursors_.size(); ++shard) {
    uint64_t& cursor = cursors_[shard];
    if (cursor < reading.after) continue;
    cursor = missed[shard] > 0 ? missed[shard] - 1 : std::max(cursor, end);
  }
  if (reading.kind == Kind::kLate) {
    late_.after = last;
    if (!full) {
      // A pass is long while much of the last 30 s waits, so there are fewer of them.
      const Duration rest = std::max<Duration>(limits_.late_every, 9 * (now - late_.began));
      late_ = {.at = now + std::min(rest, limits_.late_for / 3)};
    }
  } else if (reading.kind == Kind::kSweep) {
    sweep_.after = last;
    sweep_.at = now + limits_.sweep_pace;
    if (!full) sweep_ = {.at = now + limits_.sweep_every};
  }
  Remember(now);
}

// Rows above the highest id seen before are new. The passes that begin at 0 find all others.
void Reads::BeginAnew(const Reading& reading, uint64_t newest, Time now) {
  newest_ = settled_ > 0 ? std::min(newest_, newest) : newest;
  settled_ = reading.doubts;
  std::fill(cursors_.begin(), cursors_.end(), 0);
  seen_ = {{now, newest_ - std::min(newest_, limits_.late_ids)}};
  late_ = {.at = now + limits_.late_every};
  sweep_ = {.at = now + limits_.sweep_every};
  poll_at_ = now;
}

void Reads::Remember(Time now) {
  if (now < seen_.back().first + limits_.late_every) return;
  seen_.emplace_back(now, newest_);
  while (seen_.size() > 1 && seen_[1].first <= now - limits_.late_for) seen_.pop_front();
}

void Reads::Failed(Time now, uint64_t random) {
  reading_.reset();
  Doubt();
  retry_at_ = now + limits_.backoff.Delay(++attempts_, random);
}

void Reads::SetBelled(bool belled, Time now) {
  if (belled_ && !belled) poll_at_ = std::min(poll_at_, now);
  belled_ = belled;
}

std::optional<Time> Reads::timer() const {
  if (reading_) return std::nullopt;
  if (retry_at_) return retry_at_;
  if (!known()) return Time{};
  std::optional<Time> next = std::max(poll_at_, pace_.opens_at());
  if (!switches_.late_window) return next;
  return Earlier(Earlier(next, late_.at), sweep_.at);
}

}  // namespace fanline::mirror
