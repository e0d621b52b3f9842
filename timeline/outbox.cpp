#include "timeline/outbox.h"

#include <algorithm>

namespace fanline::timeline {

OutboxRun::Requests OutboxRun::Begin() {
  asked_for_ = RefillOf(reads_++, query_.limit);
  TimeSpan span{.above = {}, .up_to = {}, .behind = read_to_ ? read_to_ : query_.older_than};
  if (query_.newer_than) span.above = query_.newer_than->created_at - 1;
  return {ReadOutbox{0, map_.ShardOf(author_), author_, span, asked_for_}};
}

OutboxRun::Requests OutboxRun::On(const OutboxRead& reply) {
  if (!reply.status.done()) return End(reply.status);
  all_ = reply.items.size() < asked_for_;
  if (!reply.items.empty()) read_to_ = PlaceOf(reply.items.back());
  fold_.Add(reply.items);
  if (query_.newer_than) fold_.CutAt(*query_.newer_than);
  return GoOn();
}

OutboxRun::Requests OutboxRun::On(const OriginalsRead& reply) {
  if (!originals_.On(reply)) return {};
  if (answers_ == TruthReads::Answers::kWhole && !originals_.status().done()) {
    return End(originals_.status());
  }
  const auto states = originals_.Take();
  const std::vector<Original> asked = fold_.unknown();
  for (size_t i = 0; i < asked.size(); ++i) {
    page_.incomplete |= !states[i].has_value();
    fold_.Know(asked[i], states[i]);
  }
  return GoOn();
}

OutboxRun::Requests OutboxRun::GoOn() {
  if (const auto unknown = fold_.unknown(); !unknown.empty()) {
    const auto requests = originals_.Ask(unknown);
    return {requests.begin(), requests.end()};
  }
  const bool enough = fold_.Count(query_.limit + 1) > query_.limit;
  return enough || all_ || reads_ == kMostReads ? End({}) : Begin();
}

OutboxRun::Requests OutboxRun::End(const Status& status) {
  done_ = true;
  status_ = status;
  return {};
}

Page OutboxRun::Take() {
  const bool more = fold_.Count(query_.limit + 1) > query_.limit;
  static_cast<Folded&>(page_) = fold_.Take(query_.limit, !more);
  if (more) {
    page_.next = PlaceOf(page_.items.back());
  } else if (!all_) {
    page_.next = read_to_;
  }
  return std::move(page_);
}

}  // namespace fanline::timeline
