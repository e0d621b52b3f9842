#include "dispatcher/original_reads.h"

#include <chrono>

namespace fanline::dispatcher {
namespace {

constexpr Duration kQuiet = std::chrono::seconds(1);  // after an answer that the shard is away

}  // namespace

void OriginalReads::Add(uint64_t job, const Original& named, Now now) {
  AtShard& shard = at_[shards_.ShardOf(named.author)];
  shard.waiting.push_back({job, named});
  if (shard.late || now.mono < shard.quiet_until) GoOnAsNamed(shard);
}

void OriginalReads::GoOnAsNamed(AtShard& shard) {
  for (std::vector<Found>* all : {&shard.asked, &shard.waiting}) {
    metrics_.OriginalsUnread(all->size());
    found_.insert(found_.end(), all->begin(), all->end());
    all->clear();
  }
}

void OriginalReads::Step(Now now) {
  for (Shard number = 0; number < at_.size(); ++number) {
    AtShard& shard = at_[number];
    if (shard.request != 0) {
      if (!shard.late && now.mono - shard.since >= wait_) {
        shard.late = true;
        GoOnAsNamed(shard);
      }
      continue;
    }
    if (shard.waiting.empty()) continue;
    shard.asked = std::exchange(shard.waiting, {});
    shard.request = ++ids_;
    shard.since = now.mono;
    ReadShown request{shard.request, number, {}};
    for (const Found& each : shard.asked) request.posts.push_back(each.original.key());
    posts_.Submit(std::move(request));
  }
}

void OriginalReads::On(const ShownRead& reply, Now now) {
  AtShard& shard = at_[reply.shard];
  if (shard.request != reply.id) return;
  shard.request = 0;
  shard.late = false;
  if (!reply.status.done()) {
    shard.quiet_until = now.mono + kQuiet;
    return GoOnAsNamed(shard);
  }
  for (Found& each : std::exchange(shard.asked, {})) {
    const auto shown = reply.shown.find(each.original.key());
    if (shown != reply.shown.end()) each.original = shown->second;
    found_.push_back(each);
  }
}

std::optional<Time> OriginalReads::timer() const {
  std::optional<Time> next;
  for (const AtShard& shard : at_) {
    if (shard.request != 0 && !shard.late) next = Earlier(next, shard.since + wait_);
  }
  return next;
}

}  // namespace fanline::dispatcher
