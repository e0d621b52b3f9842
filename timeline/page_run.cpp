#include "timeline/page_run.h"

#include <utility>
#include <variant>

namespace fanline::timeline {

ReadLivePage PageRun::Begin() const {
  const auto need = std::get<NeedTimeline>(read_.needed());
  return {0, reader_, need.after, need.limit};
}

void PageRun::OnLive(LivePageRead reply) {
  reply.status.done() ? read_.OnTimeline(std::move(reply.page)) : read_.OnNoTimeline();
}

PageRun::Requests PageRun::GoOn() {
  while (!read_.done()) {
    const bool partly = answers_ == TruthReads::Answers::kPartly;
    if (!std::exchange(asked_, true) && partly) first_ = read_;
    Requests requests = RequestsFor(read_.needed(), reader_, reads_);
    if (!requests.empty()) return requests;
    std::holds_alternative<NeedLastAt>(read_.needed()) ? read_.OnLastAt({}) : read_.OnItems({});
  }
  Requests proofs = guards_.pages_proved ? reads_.Confirm() : Requests();
  if (proofs.empty()) End({});
  return proofs;
}

template <class Give>
PageRun::Requests PageRun::Next(bool last, const Give& give) {
  if (!last) return {};
  if (reads_.status().done()) {
    give();
  } else if (read_.merges() && answers_ == TruthReads::Answers::kPartly) {
    read_.OnBeside({}, true);
  } else {
    return End(reads_.status());
  }
  return GoOn();
}

PageRun::Requests PageRun::On(FolloweesRead reply) {
  pulled_ |= !read_.merges();
  return Next(reads_.On(std::move(reply)), [&] { read_.OnFollowees(reads_.TakeFollowees()); });
}

PageRun::Requests PageRun::On(LastAtRead reply) {
  return Next(reads_.On(std::move(reply)), [&] { read_.OnLastAt(reads_.TakeLastAt()); });
}

PageRun::Requests PageRun::On(ItemsAnswered reply) {
  return Next(reads_.On(std::move(reply)), [&] { read_.OnItems(reads_.TakeItems()); });
}

PageRun::Requests PageRun::On(const ReadsConfirmed& reply) {
  own_unproved_ |= reply.shard == own_shard_ && !reply.status.done();
  if (!reads_.On(reply)) return {};
  if (reads_.status().done() || !first_) return End(reads_.status());
  read_ = *std::exchange(first_, std::nullopt);
  if (read_.merges()) {
    read_.OnBeside({}, true);
  } else if (own_unproved_) {
    return End(reads_.status());
  }
  return GoOn();
}

PageRun::Requests PageRun::End(const Status& status) {
  done_ = true;
  status_ = status;
  return {};
}

Page PageRun::Take() {
  Page page = read_.Take();
  page.incomplete |= reads_.lacks() && guards_.lacks_told;
  return page;
}

}  // namespace fanline::timeline
