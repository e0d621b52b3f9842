// Measures deliveries whose hints ask for it: how long they took, and how many live followers they
// reached. A measurement never delays or fails a hint, and is not repeated when it fails. Passive,
// not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "fanline/model/size_class.h"
#include "pusher/base/common.h"
#include "pusher/units/unit.h"

namespace fanline::pusher {

// The time from publish to delivery of sampled posts. A pusher that finishes a part sets the part's
// bit beside the author's timelines. The answer tells whether the part was the first to deliver and
// whether it was the last, which gives the two times.
class DeliveryMarks {
 public:
  explicit DeliveryMarks(Common& common) : common_(common), metrics_(common.ports.metrics) {}

  // This part of the post is written. `delivered`: it reached at least one live timeline.
  // `trace_id`: the post's, or empty.
  void Mark(UserId author, PostId post, const DeliverySample& sample, bool delivered,
            std::string trace_id) {
    under_way_.emplace(++common_.ids, Marked{author, post, sample, std::move(trace_id)});
    common_.ports.timelines.Submit(
        MarkPart{common_.ids, author, post, sample.part, sample.parts, delivered});
  }
  void On(const PartMarked& marked, Now now) {
    const auto answered = under_way_.extract(marked.id);
    if (answered.empty() || !marked.status.done()) return;
    const auto& [author, post, sample, trace_id] = answered.mapped();
    const int size_class = SizeClassOf(sample.followers);
    const Duration since =
        std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - sample.published_at));
    if (marked.first_delivery) metrics_.FirstDelivery(size_class, since);
    if (!marked.last_part || !marked.any_delivery) return;
    metrics_.LastDelivery(size_class, since);
    if (!trace_id.empty()) {
      metrics_.TracedDelivery({trace_id, author, post, sample.followers, since});
    }
  }

 private:
  struct Marked {
    UserId author{};
    PostId post{};
    DeliverySample sample;
    std::string trace_id;
  };

  Common& common_;
  Metrics& metrics_;
  std::unordered_map<uint64_t, Marked> under_way_;  // by request
};

// Estimates how many live followers a weighed post reached. One range is counted for all, because
// readers are hashed to ranges. The author is not counted, although the author is a reader of one
// range if home timelines hold the reader's own posts. Each run gives one estimate, and only if it
// went through all pages: a run that was taken up in the middle would count too few. At most
// kMostUnderWay estimates are under way; others are dropped.
class AuthorWeights {
 public:
  static constexpr size_t kMostUnderWay = 64;

  explicit AuthorWeights(Common& common) : common_(common) {}

  // All pages of the unit are written. They reached the live timelines of `live` followers.
  void Finished(const Unit& unit, uint64_t live, UnixMs now) {
    for (const ReceivedHint& hint : unit.hints) {
      const UnixMs since = std::get<Hint::Post>(hint.hint()->what).weighed_since;
      if (since == 0) continue;
      if (under_way_.size() < kMostUnderWay) Send(unit.author, live, now - since);
      return;
    }
  }
  void On(const AuthorWeighed& reply) {
    if (under_way_.erase(reply.id) > 0 && reply.status.done())
      common_.ports.metrics.AuthorWeighed();
  }

 private:
  void Send(UserId author, uint64_t live, UnixMs late) {
    under_way_.insert(++common_.ids);
    common_.ports.weights.Submit({.id = common_.ids,
                                  .shard = common_.setup.shards.ShardOf(author),
                                  .author = author,
                                  .live = live * common_.setup.layout.partitions(),
                                  .lag = std::chrono::milliseconds(std::max<UnixMs>(0, late))});
  }

  Common& common_;
  std::set<uint64_t> under_way_;  // requests
};

}  // namespace fanline::pusher
