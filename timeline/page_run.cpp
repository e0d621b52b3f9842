#include "timeline/page_run.h"

#include <utility>
#include <variant>

namespace fanline::timeline {

ReadLivePage PageRun::Begin() const {
  const auto need = std::get<NeedTimeline>(read_.needed());
  return {0, reader_, need.after, need.limit, need.in_front};
}

void PageRun::OnLive(LivePageRead reply) {
  reply.status.done() ? read_.OnTimeline(std::move(reply.page)) : read_.OnNoTimeline();
}

PageRun::Requests PageRun::Filter() {
  while (true) {
    const PageNeed need = read_.needed();
    if (const auto* more = std::get_if<NeedTimeline>(&need)) {
      return {ReadLivePage{0, reader_, more->after, more->limit, more->in_front}};
    }
    if (const auto* originals = std::get_if<NeedOriginals>(&need)) {
      const auto requests = originals_.Ask(originals->originals);
      return {requests.begin(), requests.end()};
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

bool PageRun::OnOriginals(const OriginalsRead& reply) {
  if (!originals_.On(reply)) return false;
  if (answers_ == TruthReads::Answers::kWhole && !originals_.status().done()) {
    End(originals_.status());
  } else {
    read_.OnOriginals(originals_.Take());
  }
  return true;
}

PageRun::Requests PageRun::On(const OriginalsRead& reply) {
  return OnOriginals(reply) && !done_ ? GoOn() : Requests();
}

// Of the shards of those who may have reposted.
PageRun::Requests PageRun::Search(const NeedSources& need) {
  std::map<Shard, std::vector<UserId>> by_shard;
  for (const UserId author : need.by) by_shard[map_.ShardOf(author)].push_back(author);
  Requests requests;
  for (auto& [shard, by] : by_shard) {
    requests.emplace_back(FindSources{0, shard, need.originals, std::move(by), need.in_front_of});
  }
  searches_ = requests.size();
  in_front_.clear();
  search_failed_ = {};
  return requests;
}

PageRun::Requests PageRun::On(const SourcesFound& reply) {
  if (!reply.status.done()) search_failed_ = reply.status;
  in_front_.insert(in_front_.end(), reply.originals.begin(), reply.originals.end());
  if (--searches_ > 0) return {};
  if (answers_ == TruthReads::Answers::kWhole && !search_failed_.done()) return End(search_failed_);
  read_.OnSources(in_front_, !search_failed_.done());
  return GoOn();
}

PageRun::Requests PageRun::GoOn() {
  while (!read_.done()) {
    if (Requests requests = Filter(); !requests.empty()) return requests;
    if (read_.done()) break;
    const PageNeed need = read_.needed();
    if (const auto* sources = std::get_if<NeedSources>(&need)) return Search(*sources);
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
