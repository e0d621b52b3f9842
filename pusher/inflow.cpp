#include "pusher/inflow.h"

#include <utility>

namespace fanline::pusher {

void Inflow::Seek(int64_t offset, ConsumerOrders& orders) {
  open_ = flowing_ = true;
  orders.seek.push_back({range_, offset});
}

void Inflow::Stop() {
  open_ = false;
  full_.reset();
  newer_.reset();
}

void Inflow::StandBefore(int64_t offset, std::string why, Now now, uint64_t random) {
  const uint32_t attempts = newer_ ? newer_->attempts + 1 : 1;
  newer_ = {offset, std::move(why), attempts, now.mono + limits_.backoff.Delay(attempts, random)};
  open_ = false;
}

void Inflow::Direct(const OffsetLedger& ledger, const Lanes& lanes, bool taking, Now now,
                    ConsumerOrders& orders) {
  if (taking && timer() && *timer() <= now.mono) return Seek(newer_->offset, orders);
  full_ = BoundReached(ledger, lanes);
  const bool flows = open_ && !full_;
  if (flows == flowing_) return;
  flowing_ = flows;
  (flows ? orders.resume : orders.pause).push_back(range_);
}

std::optional<PauseCause> Inflow::BoundReached(const OffsetLedger& ledger,
                                               const Lanes& lanes) const {
  const auto reached = [this](size_t held, uint32_t bound) {
    return full_ ? held > bound / 2 : held >= bound;
  };
  // A shard that works its share off waits for no other, however many are slow.
  if (lanes.room() < (full_ ? (lanes.share() + 1) / 2 : 1)) return PauseCause::kBuffered;
  if (reached(lanes.held_up(), limits_.parked_hints_per_range)) return PauseCause::kParked;
  if (reached(ledger.span(), limits_.span_per_range)) return PauseCause::kSpan;
  return std::nullopt;
}

}  // namespace fanline::pusher
