#include "pusher/units/audiences.h"

namespace fanline::pusher {

void Audiences::TakeOver(Range range, uint64_t epoch, uint64_t index) {
  const Claimed fresh{0, Audience(index, common_.setup.guards)};
  claimed_.try_emplace(range, fresh).first->second.epoch = epoch;
}

void Audiences::ForgetRange(Range range) {
  if (!common_.setup.guards.claims_forget_set) return;
  claimed_.erase(range);
  std::erase_if(asked_, [&](const auto& asked) { return asked.second == range; });
}

Audience* Audiences::Find(Range range, uint64_t epoch) {
  const auto found = claimed_.find(range);
  const bool same = found != claimed_.end() && found->second.epoch == epoch;
  return same ? &found->second.audience : nullptr;
}

void Audiences::AskForNews() {
  for (auto& [range, claimed] : claimed_) {
    if (!claimed.audience.due()) continue;
    asked_.emplace(++common_.ids, range);
    common_.ports.timelines.Submit(
        claimed.audience.Ask(common_.ids, range, claimed.epoch, common_.limits.news_per_call));
  }
}

std::optional<Range> Audiences::AskedFor(const NewsRead& news) {
  const auto asked = asked_.extract(news.id);
  if (asked.empty()) return std::nullopt;
  return asked.mapped();
}

uint64_t Audiences::live_readers() const {
  uint64_t live = 0;
  for (const auto& [range, claimed] : claimed_) live += claimed.audience.size();
  return live;
}

}  // namespace fanline::pusher
