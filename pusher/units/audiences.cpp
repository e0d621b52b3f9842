#include "pusher/units/audiences.h"

#include <algorithm>

namespace fanline::pusher {

void Audiences::TakeOver(Range range, uint32_t node, uint64_t epoch, uint64_t index) {
  const Claimed fresh{0, 0, Audience(index, common_.setup.guards)};
  Claimed& claimed = claimed_.try_emplace(range, fresh).first->second;
  claimed.node = node;
  claimed.epoch = epoch;
}

void Audiences::ForgetRange(Range range) {
  if (!common_.setup.guards.claims_forget_set) return;
  claimed_.erase(range);
  std::erase_if(asked_, [&](const auto& asked) { return asked.second.range == range; });
}

Audience* Audiences::Find(Range range, uint64_t epoch) {
  const auto found = claimed_.find(range);
  const bool same = found != claimed_.end() && found->second.epoch == epoch;
  return same ? &found->second.audience : nullptr;
}

// Nodes with a call under way that nobody waits for.
std::set<uint32_t> Audiences::ReadingNodes() const {
  std::set<uint32_t> nodes;
  for (const auto& [id, asked] : asked_) {
    if (!asked.is_waited_for) nodes.insert(claimed_.at(asked.range).node);
  }
  return nodes;
}

void Audiences::AskForNews() {
  const Limits& limits = common_.limits;
  std::set<uint32_t> reading = ReadingNodes();
  for (auto& [range, claimed] : claimed_) {
    Audience& audience = claimed.audience;
    const bool is_waited_for = audience.is_waited_for();
    if (!audience.due()) continue;
    if (!is_waited_for && !reading.insert(claimed.node).second) continue;
    asked_[++common_.ids] = {range, is_waited_for};
    const bool first = audience.heard() == 0;
    common_.ports.timelines.Submit(audience.Ask(
        common_.ids, range, claimed.epoch,
        first ? std::min(limits.news_at_first, limits.news_per_call) : limits.news_per_call));
  }
}

std::optional<Range> Audiences::AskedFor(const NewsRead& news) {
  const auto asked = asked_.extract(news.id);
  if (asked.empty()) return std::nullopt;
  return asked.mapped().range;
}

uint64_t Audiences::live_readers() const {
  uint64_t live = 0;
  for (const auto& [range, claimed] : claimed_) live += claimed.audience.size();
  return live;
}

}  // namespace fanline::pusher
