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

PageRun::Requests PageRun::Filter() {
  while (true) {
    const PageNeed need = read_.needed();
    if (const auto* more = std::get_if<NeedTimeline>(&need)) {
      return {ReadLivePage{0, reader_, more->after, more->limit}};
    }
    const auto* mutes = std::get_if<NeedMutes>(&need);
    if (mutes == nullptr) return {};
    auto known = remembered_ ? remembered_->Find(reader_, mutes->version) : nullptr;
    if (known == nullptr) return {ReadMutes{0, own_shard_, reader_}};
    read_.OnMutes(std::move(known));
  }
}

void PageRun::OnMutes(MutesRead reply) {
  const auto need = std::get<NeedMutes>(read_.needed());
  if (reply.status.done() && !reply.mutes.damaged) {
    const auto known = std::make_shared<const Mutes>(std::move(reply.mutes));
    if (remembered_) remembered_->Put(reader_, need.version, known);
    read_.OnMutes(known);
  } else if (reply.status.done() || answers_ == TruthReads::Answers::kPartly) {
    read_.OnMutes(remembered_ ? remembered_->Find(reader_, 0) : nullptr, true);
  } else {
    End(reply.status);
  }
}

PageRun::Requests PageRun::GoOn() {
  if (Requests requests = Filter(); !requests.empty()) return requests;
  while (!read_.done()) {
    const bool partly = answers_ == TruthReads::Answers::kPartly;
    if (!std::exchange(asked_, true) && partly) first_ = read_;
    Requests requests = Widened<Request>(RequestsFor(read_.needed(), reader_, reads_));
    if (!requests.empty()) return requests;
    std::holds_alternative<NeedLastAt>(read_.needed()) ? read_.OnLastAt({}) : read_.OnItems({});
  }
  Requests proofs;
  if (guards_.pages_proved) proofs = Widened<Request>(reads_.Confirm());
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
  return Next(reads_.On(std::move(reply)), [&] {
    read_.OnFollowees(reads_.TakeFollowees(), reads_.mutes(), reads_.no_reposts());
  });
}

PageRun::Requests PageRun::On(MutesRead reply) {
  OnMutes(std::move(reply));
  return done_ ? Requests() : GoOn();
}

PageRun::Requests PageRun::On(LivePageRead reply) {
  OnLive(std::move(reply));
  return GoOn();
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
