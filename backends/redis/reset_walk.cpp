#include "backends/redis/reset_walk.h"

#include <algorithm>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/scripts.h"
#include "backends/redis/requests.h"

namespace fanline::redis {

using Timelines = ResetRange::Timelines;

ResetWalk::ResetWalk(CommandChannel& channel, const Options& options, const Keys& keys)
    : channel_(channel), options_(options), keys_(keys) {}

void ResetWalk::Add(ResetRange request, Answer<RangeReset> answer) {
  const auto reset = std::make_shared<Reset>(Reset{request, std::move(answer), {}, false});
  if (request.timelines == Timelines::kLeave) {
    End(reset, [reset] { reset->answer(std::move(reset->reply)); });
    return;
  }
  if (const auto earlier = waiting_.find(request.range); earlier != waiting_.end()) {
    Fail(*earlier->second, {Away("another reset of the range came after it"), false, nullptr});
    earlier->second->answer(std::move(earlier->second->reply));
  }
  waiting_[request.range] = reset;
  StartIfIdle();
}

void ResetWalk::StartIfIdle() {
  if (!walking_.empty() || waiting_.empty()) return;
  walking_.swap(waiting_);
  cursor_ = "0";
  next_step_ = &ResetWalk::Scan;
  outstanding_ = walking_.size();
  for (const auto& [range, reset] : walking_) Begin(reset);
}

void ResetWalk::StepDone() {
  if (--outstanding_ == 0) (this->*next_step_)();
}

void ResetWalk::Begin(const std::shared_ptr<Reset>& reset) {
  const ResetRange& request = reset->request;
  const bool takeover = request.position.has_value();
  const bool forgets = takeover && request.timelines == Timelines::kDrop;
  CommandBuffer out = BeginCall(Script::kResetBegin, forgets ? 5 : 4, 2);
  out.Args(keys_.Own(request.range), keys_.Live(request.range), keys_.MaxFloor(request.range),
           keys_.Nowhere(request.range));
  if (forgets) out.Arg(keys_.Pos(request.range));
  out.Args(request.epoch, takeover ? 1 : 0);
  channel_.Call(std::move(out), [this, reset](const CallResult& result) {
    if (!result.status.done()) Fail(*reset, result);
    StepDone();
  });
}

// With one range the pattern names its tag: a server may then scan that slot only, and sends no
// keys of other ranges. Once every reset has failed, the walk is over, as when a slot moves and
// Redis refuses all of them.
void ResetWalk::Scan() {
  const auto failed = [](const auto& reset) { return reset.second->failed; };
  if (std::all_of(walking_.begin(), walking_.end(), failed)) return Finish();
  outstanding_ = 1;
  const std::string pattern =
      walking_.size() == 1 ? keys_.TimelinesOf(walking_.begin()->first) : keys_.Timelines();
  channel_.Call(CommandOf("SCAN", cursor_, "MATCH", pattern, "COUNT", options_.scan_count),
                [this](const CallResult& result) {
                  if (!result.status.done()) {
                    FailAll(result);
                    next_step_ = &ResetWalk::Finish;
                  } else if (!TakePage(*result.reply)) {
                    FailAll({Away("unexpected answer of SCAN"), false, nullptr});
                    next_step_ = &ResetWalk::Finish;
                  }
                  StepDone();
                });
}

bool ResetWalk::TakePage(const redisReply& page) {
  std::map<Range, Found> found;
  const bool read = ReadScanned(page, &cursor_, [&](std::string_view name) {
    const auto timeline = keys_.ParseTimeline(name);
    const auto walking = timeline ? walking_.find(timeline->range) : walking_.end();
    if (walking == walking_.end() || walking->second->failed) return;
    const bool indexed =
        timeline->in_its_range && walking->second->request.timelines == Timelines::kIndex;
    Found& of_range = found[timeline->range];
    (indexed ? of_range.index : of_range.drop).emplace_back(name);
    // A page may hold many more keys than were asked for.
    if (of_range.drop.size() + of_range.index.size() < options_.scan_count) return;
    ++outstanding_;
    SendPage(walking->second, of_range);
    found.erase(timeline->range);
  });
  if (!read) return false;
  next_step_ = cursor_ == "0" ? &ResetWalk::Finish : &ResetWalk::Scan;
  outstanding_ += found.size();
  for (const auto& [range, of_range] : found) SendPage(walking_.at(range), of_range);
  return true;
}

void ResetWalk::SendPage(const std::shared_ptr<Reset>& reset, const Found& found) {
  const Range range = reset->request.range;
  const size_t key_count = 3 + found.drop.size() + found.index.size();
  CommandBuffer out = BeginCall(Script::kResetPage, key_count, 2);
  out.Args(keys_.Own(range), keys_.Live(range), keys_.MaxFloor(range));
  for (const std::string& key : found.drop) out.Arg(key);
  for (const std::string& key : found.index) out.Arg(key);
  out.Args(reset->request.epoch, found.drop.size());
  channel_.Call(std::move(out), [this, reset](const CallResult& result) {
    if (!result.status.done()) {
      Fail(*reset, result);
    } else {
      reset->reply.dropped += static_cast<uint64_t>(Integer(*result.reply).value_or(0));
    }
    StepDone();
  });
}

void ResetWalk::End(const std::shared_ptr<Reset>& reset, std::function<void()> then) {
  const ResetRange& request = reset->request;
  const bool walked = request.timelines != Timelines::kLeave;
  CommandBuffer out = BeginCall(Script::kResetEnd, walked ? 5 : 2, 2);
  out.Args(keys_.Own(request.range), keys_.Pos(request.range));
  if (walked) {
    out.Args(keys_.Live(request.range), keys_.MaxFloor(request.range),
             keys_.Nowhere(request.range));
  }
  out.Args(request.epoch,
           request.position ? TextOf(*request.position, keys_.layout()) : std::string());
  channel_.Call(std::move(out), [this, reset, then = std::move(then)](const CallResult& result) {
    if (!result.status.done()) {
      Fail(*reset, result);
    } else if (Integer(*result.reply) != 1) {
      Fail(*reset, {Away("an index was deleted during the walk over its keys"), false, nullptr});
    }
    then();
  });
}

void ResetWalk::Fail(Reset& reset, const CallResult& result) {
  reset.failed = true;
  reset.reply.status = result.status;
  reset.reply.needs_claim = reset.reply.needs_claim || result.needs_claim;
}

void ResetWalk::FailAll(const CallResult& result) {
  for (const auto& [range, reset] : walking_) {
    if (!reset->failed) Fail(*reset, result);
  }
}

// The walk is over. Completes the resets that did not fail. A takeover that failed leaves its range
// without a complete index and with the old position, or none.
void ResetWalk::Finish() {
  outstanding_ = 1;
  next_step_ = &ResetWalk::AnswerAll;
  for (const auto& [range, reset] : walking_) {
    if (reset->failed) continue;
    ++outstanding_;
    End(reset, [this] { StepDone(); });
  }
  StepDone();
}

void ResetWalk::AnswerAll() {
  const Resets answered = std::move(walking_);
  walking_.clear();
  for (const auto& [range, reset] : answered) reset->answer(std::move(reset->reply));
  StartIfIdle();
}

}  // namespace fanline::redis
