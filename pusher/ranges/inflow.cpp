#include "pusher/ranges/inflow.h"

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

void Inflow::Direct(const OffsetLedger& ledger, const Lanes* lanes, const Process& process,
                    bool taking, Now now, ConsumerOrders& orders) {
  if (taking && timer() && *timer() <= now.mono) return Seek(newer_->offset, orders);
  full_ = lanes ? BoundReached(ledger, lanes->hints(), process) : std::nullopt;
  const bool flows = open_ && !full_;
  if (flows == flowing_) return;
  flowing_ = flows;
  (flows ? orders.resume : orders.pause).push_back(range_);
}

std::optional<PauseCause> Inflow::BoundReached(const OffsetLedger& ledger, const ShardShares& hints,
                                               const Process& process) const {
  const auto reached = [this](size_t held, size_t bound) {
    return full_ ? held > bound / 2 : held >= bound;
  };
  if (full_ ? !hints.roomy() : hints.full()) return PauseCause::kBuffered;
  if (reached(hints.held_up(), limits_.parked_hints_per_range)) return PauseCause::kParked;
  if (reached(ledger.span(), limits_.span_per_range)) return PauseCause::kSpan;
  const size_t anybodys = limits_.held_hints / 2;
  const size_t share = anybodys / process.ranges;
  if (reached(process.hints, anybodys) && reached(hints.jobs(), share)) {
    return hints.held_up() > 0 ? PauseCause::kParked : PauseCause::kBuffered;
  }
  return std::nullopt;
}

}  // namespace fanline::pusher
