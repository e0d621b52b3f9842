#include "timeline/rebuild.h"

#include <algorithm>
#include <utility>

namespace fanline::timeline {
Rebuild::Rebuild(UserId reader, RebuildRules rules, const ShardMap& map, Admit admit)
    : reader_(reader),
      rules_(std::move(rules)),
      map_(map),
      admit_(std::move(admit)),
      reads_(map, TruthReads::Answers::kWhole),
      pull_(NewPull()) {}

Pull Rebuild::NewPull() const {
  const bool own = rules_.own_posts && rules_.guards.rebuilds_own;
  return Pull({rules_.window.window, rules_.window.spare(), rules_.items_per_read}, {}, {},
              Pulled::kPushed, own ? std::optional(reader_) : std::nullopt);
}

// An attempt.
Rebuild::Requests Rebuild::Begin() {
  if (attempts_ == rules_.attempts) return End(RebuildResult::kGaveUp);
  ++attempts_;
  token_ = rules_.next_token();
  pull_ = NewPull();
  return {BeginRebuild{0, reader_, token_}};
}

Rebuild::Requests Rebuild::On(const RebuildBegan& reply) {
  if (!reply.status.done()) return Abandon(reply.status);
  switch (reply.begun) {
    case RebuildBegun::kCreated:
      break;
    case RebuildBegun::kBusy:
      return End(RebuildResult::kBusy);
    case RebuildBegun::kAlreadyReady:
      return End(RebuildResult::kAlreadyReady);
    case RebuildBegun::kRefused:
      return End(RebuildResult::kRefused);
  }
  return Read();
}

// The next read, or the proof of all.
Rebuild::Requests Rebuild::Read() {
  return Widened<Request>(pull_.done() ? reads_.Confirm()
                                       : RequestsFor(pull_.needed(), reader_, reads_));
}

template <class Give>
Rebuild::Requests Rebuild::Next(bool last, const Give& give) {
  if (!last) return {};
  if (!reads_.status().done()) return Abandon(reads_.status());
  give();
  return Read();
}

// A user who follows somebody is known, so few have to be looked up.
Rebuild::Requests Rebuild::On(FolloweesRead reply) {
  if (!reads_.On(std::move(reply))) return {};
  std::vector<UserId> authors = reads_.TakeFollowees();
  if (reads_.status().done() && authors.empty() && admit_ && !admitted_) {
    return {LookUpUser{0, map_.ShardOf(reader_), reader_}};
  }
  return Next(true, [&] { pull_.OnFollowees(std::move(authors), reads_.no_reposts()); });
}

Rebuild::Requests Rebuild::On(const UserLookedUp& reply) {
  if (!reply.status.done()) return Abandon(reply.status);
  admitted_ = reply.facts.known || admit_();
  if (admitted_) return Next(true, [&] { pull_.OnFollowees({}); });
  result_ = RebuildResult::kNotAdmitted;
  return Abandon({});
}

Rebuild::Requests Rebuild::On(LastAtRead reply) {
  return Next(reads_.On(std::move(reply)), [&] { pull_.OnLastAt(reads_.TakeLastAt()); });
}

Rebuild::Requests Rebuild::On(ItemsAnswered reply) {
  return Next(reads_.On(std::move(reply)), [&] { pull_.OnItems(reads_.TakeItems()); });
}

Rebuild::Requests Rebuild::On(const ReadsConfirmed& reply) {
  if (!reads_.On(reply)) return {};
  return reads_.status().done() ? Finish() : Abandon(reads_.status());
}

Rebuild::Requests Rebuild::Finish() {
  FinishRebuild finish{0, reader_, token_, pull_.items(), pull_.floor()};
  const std::vector<UserId>& chosen = reads_.no_reposts();
  for (const UserId author : pull_.marked()) {
    if (!rules_.guards.rebuilds_mark) break;
    finish.marks.push_back({author, std::binary_search(chosen.begin(), chosen.end(), author)});
  }
  if (rules_.guards.rebuilds_mute) finish.mutes = reads_.mutes().mark();
  return {std::move(finish)};
}

Rebuild::Requests Rebuild::On(const RebuildFinished& reply) {
  if (!reply.status.done()) return Abandon(reply.status);
  return reply.applied ? End(RebuildResult::kRebuilt) : Begin();
}

Rebuild::Requests Rebuild::Abandon(const Status& status) {
  status_ = status;
  return {AbandonRebuild{0, reader_, token_}};
}

// If that failed as well, what was begun expires.
Rebuild::Requests Rebuild::On(const RebuildAbandoned& reply) {
  done_ = true;
  if (status_.done()) status_ = reply.status;
  return {};
}

Rebuild::Requests Rebuild::End(RebuildResult result) {
  result_ = result;
  done_ = true;
  return {};
}

}  // namespace fanline::timeline
