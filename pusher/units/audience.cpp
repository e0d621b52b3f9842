#include "pusher/units/audience.h"

namespace fanline::pusher {

ReadNews Audience::Ask(uint64_t id, Range range, uint64_t epoch, uint32_t limit) {
  if (!more_ || !is_filled_) served_ = std::exchange(waiting_, {});
  if (!more_ && set_.readers.size() > 2 * listed_ + kSpare) anew_.emplace();
  id_ = id;
  limit_ = limit;
  return {id, range, epoch, anew_ ? anew_->heard : set_.heard, limit};
}

bool Audience::Foreign(const NewsRead& news) const {
  return (news.index != index_ || news.last < set_.heard) && guards_.index_named;
}

std::vector<uint64_t> Audience::On(const NewsRead& news) {
  id_ = 0;
  more_ = news.status.done() && news.announced.size() >= limit_;
  if (!news.status.done()) {
    anew_.reset();
    return std::exchange(served_, {});
  }
  listed_ = news.readers;
  Set& filled = anew_ ? *anew_ : set_;
  for (const auto& [reader, number] : news.announced) filled.readers.Add(reader, number);
  filled.heard = more_ ? news.announced.back().number : news.last;
  if (more_ && is_filled_ && guards_.set_served_whole) return {};
  if (!more_) is_filled_ = true;
  if (anew_ && !more_) set_ = *std::exchange(anew_, std::nullopt);
  return std::exchange(served_, {});
}

}  // namespace fanline::pusher
