// Measures the time from publish to delivery of sampled posts. A pusher that finishes a part sets
// its bit beside the author's timelines; those that deliver first and finish last know the times.
// It never delays or fails a hint, and a mark that fails is not tried again.
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "fanline/base/time.h"
#include "fanline/model/hint.h"
#include "fanline/model/size_class.h"
#include "fanline/ports/live_timelines.h"
#include "fanline/ports/port.h"
#include "pusher/metrics.h"

namespace fanline::pusher {

class DeliveryMarks {
 public:
  // `ids` gives request ids; it outlives this object.
  DeliveryMarks(Port<MarkPart> timelines, Metrics& metrics, uint64_t& ids)
      : timelines_(timelines), metrics_(metrics), ids_(ids) {}

  // This part of the post is written; `delivered`: to at least one live timeline.
  void Mark(UserId author, PostId post, const DeliverySample& sample, bool delivered) {
    under_way_.emplace(++ids_, sample);
    timelines_.Submit(MarkPart{ids_, author, post, sample.part, sample.parts, delivered});
  }
  void On(const PartMarked& marked, Now now) {
    const auto answered = under_way_.extract(marked.id);
    if (answered.empty() || !marked.status.done()) return;
    const DeliverySample& sample = answered.mapped();
    const int size_class = SizeClassOf(sample.followers);
    const Duration since =
        std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - sample.published_at));
    if (marked.first_delivery) metrics_.FirstDelivery(size_class, since);
    if (marked.last_part && marked.any_delivery) metrics_.LastDelivery(size_class, since);
  }

 private:
  const Port<MarkPart> timelines_;
  Metrics& metrics_;
  uint64_t& ids_;
  std::unordered_map<uint64_t, DeliverySample> under_way_;  // by request
};

}  // namespace fanline::pusher
