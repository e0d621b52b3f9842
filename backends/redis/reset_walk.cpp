#include "backends/redis/reset_walk.h"

#include <algorithm>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/keys.h"
#include "backends/redis/requests.h"

namespace fanline::redis {
namespace {

template <class KeyOf>
void ArgRange(CommandBuffer& out, const RangeLayout& layout, Range range, KeyOf key_of) {
  for (Bucket b = layout.First(range); b <= layout.Last(range); ++b) out.Arg(key_of(b));
}

}  // namespace

ResetWalk::ResetWalk(CommandChannel& channel, const Options& options, const RangeLayout& layout)
    : channel_(channel), options_(options), layout_(layout) {}

void ResetWalk::Add(ResetRange request, Answer<RangeReset> answer) {
  auto reset = std::make_unique<Reset>();
  reset->request = std::move(request);
  reset->answer = std::move(answer);
  waiting_.push_back(std::move(reset));
  StartIfIdle();
}

void ResetWalk::StartIfIdle() {
  if (!walking_.empty() || waiting_.empty()) return;
  walking_.assign(std::make_move_iterator(waiting_.begin()),
                  std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  plans_ = {};
  cursor_ = "0";
  bool anything = false;
  for (auto& reset : walking_) {
    for (Bucket bucket : reset->request.index) plans_[bucket] = {reset.get(), Fate::kIndex};
    for (Bucket bucket : reset->request.drop) plans_[bucket] = {reset.get(), Fate::kDrop};
    anything = anything || !reset->request.index.empty() || !reset->request.drop.empty();
  }
  next_step_ = anything ? &ResetWalk::Scan : &ResetWalk::Finish;
  outstanding_ = walking_.size();
  for (auto& reset : walking_) Begin(*reset);
}

void ResetWalk::StepDone() {
  if (--outstanding_ == 0) (this->*next_step_)();
}

void ResetWalk::Begin(Reset& reset) {
  const ResetRange& request = reset.request;
  channel_.Call(
      [this, &request](CommandBuffer& out, const ScriptDigests& digests) {
        const uint32_t buckets = layout_.buckets_per_range();
        const size_t keys = buckets + 2 * (request.drop.size() + request.index.size());
        out.Begin(3 + keys + 3);
        out.Arg("EVALSHA");
        out.Arg(digests.Of(Script::kResetBegin));
        out.Arg(keys);
        ArgRange(out, layout_, request.range, Key::Own);
        for (Bucket bucket : request.drop) out.Arg(Key::Live(bucket));
        for (Bucket bucket : request.index) out.Arg(Key::Live(bucket));
        for (Bucket bucket : request.drop) out.Arg(Key::Edge(bucket));
        for (Bucket bucket : request.index) out.Arg(Key::Edge(bucket));
        out.Arg(request.epoch);
        out.Arg(buckets);
        out.Arg(request.drop.size());
      },
      [this, &reset](const CallResult& result) {
        if (!result.status.done()) Fail(reset, result);
        StepDone();
      });
}

void ResetWalk::Scan() {
  outstanding_ = 1;
  channel_.Call(
      [this](CommandBuffer& out, const ScriptDigests&) {
        out.Command("SCAN", cursor_, "MATCH", "tl:{*", "COUNT", options_.scan_count);
      },
      [this](const CallResult& result) {
        if (!result.status.done()) {
          FailAll(result);
          next_step_ = &ResetWalk::Finish;
        } else if (!IsArray(*result.reply, 2) || At(*result.reply, 1).type != REDIS_REPLY_ARRAY) {
          FailAll({Away("unexpected answer of SCAN"), false, nullptr});
          next_step_ = &ResetWalk::Finish;
        } else {
          TakePage(*result.reply);
        }
        StepDone();
      });
}

void ResetWalk::TakePage(const redisReply& page) {
  cursor_ = Text(At(page, 0));
  next_step_ = cursor_ == "0" ? &ResetWalk::Finish : &ResetWalk::Scan;
  std::vector<std::pair<Reset*, std::vector<std::string>>> found;
  const redisReply& keys = At(page, 1);
  for (size_t i = 0; i < keys.elements; ++i) {
    const std::string_view key = Text(At(keys, i));
    const auto reader = ReaderOfTimelineKey(key);  // checks the tag, too
    Reset* reset = reader ? plans_[BucketOf(*reader)].reset : nullptr;
    if (reset == nullptr || reset->failed) continue;
    auto group = std::find_if(found.begin(), found.end(),
                              [reset](const auto& entry) { return entry.first == reset; });
    if (group == found.end()) group = found.insert(found.end(), {reset, {}});
    group->second.emplace_back(key);
  }
  for (auto& [reset, its_keys] : found) {
    ++outstanding_;
    SendPage(*reset, std::move(its_keys));
  }
}

void ResetWalk::SendPage(Reset& reset, std::vector<std::string> keys) {
  const auto bucket_of = [](const std::string& key) { return BucketOf(*ReaderOfTimelineKey(key)); };
  std::sort(keys.begin(), keys.end(), [&](const std::string& a, const std::string& b) {
    return bucket_of(a) < bucket_of(b);
  });
  std::vector<std::pair<Bucket, int64_t>> counts;
  for (const std::string& key : keys) {
    const Bucket bucket = bucket_of(key);
    if (counts.empty() || counts.back().first != bucket) counts.emplace_back(bucket, 0);
    counts.back().second += plans_[bucket].fate == Fate::kDrop ? -1 : 1;
  }
  channel_.Call(
      [&reset, keys = std::move(keys), counts](CommandBuffer& out, const ScriptDigests& digests) {
        const size_t key_count = 3 * counts.size() + keys.size();
        out.Begin(3 + key_count + 2 + counts.size());
        out.Arg("EVALSHA");
        out.Arg(digests.Of(Script::kResetPage));
        out.Arg(key_count);
        for (const auto& [bucket, count] : counts) out.Arg(Key::Own(bucket));
        for (const auto& [bucket, count] : counts) out.Arg(Key::Live(bucket));
        for (const auto& [bucket, count] : counts) out.Arg(Key::Edge(bucket));
        for (const std::string& key : keys) out.Arg(key);
        out.Arg(reset.request.epoch);
        out.Arg(counts.size());
        for (const auto& [bucket, count] : counts) out.Arg(count);
      },
      [this, &reset](const CallResult& result) {
        if (!result.status.done()) {
          Fail(reset, result);
        } else {
          reset.reply.dropped += static_cast<uint64_t>(Integer(*result.reply).value_or(0));
        }
        StepDone();
      });
}

void ResetWalk::End(Reset& reset) {
  const ResetRange& request = reset.request;
  channel_.Call(
      [this, &request](CommandBuffer& out, const ScriptDigests& digests) {
        const uint32_t buckets = layout_.buckets_per_range();
        const size_t keys = 2 * (buckets + request.drop.size() + request.index.size());
        out.Begin(3 + keys + 3);
        out.Arg("EVALSHA");
        out.Arg(digests.Of(Script::kResetEnd));
        out.Arg(keys);
        ArgRange(out, layout_, request.range, Key::Own);
        ArgRange(out, layout_, request.range, Key::Pos);
        for (Bucket bucket : request.drop) out.Arg(Key::Live(bucket));
        for (Bucket bucket : request.index) out.Arg(Key::Live(bucket));
        for (Bucket bucket : request.drop) out.Arg(Key::Edge(bucket));
        for (Bucket bucket : request.index) out.Arg(Key::Edge(bucket));
        out.Arg(request.epoch);
        out.Arg(buckets);
        out.Arg(request.position ? TextOf(*request.position) : std::string());
      },
      [this, &reset](const CallResult& result) {
        if (!result.status.done()) {
          Fail(reset, result);
        } else if (Integer(*result.reply) != 1) {
          Fail(reset, {Away("an index was deleted during the walk over its keys"), false, nullptr});
        }
        StepDone();
      });
}

void ResetWalk::Fail(Reset& reset, const CallResult& result) {
  reset.failed = true;
  reset.reply.status = result.status;
  reset.reply.needs_claim = reset.reply.needs_claim || result.needs_claim;
}

void ResetWalk::FailAll(const CallResult& result) {
  for (auto& reset : walking_) {
    if (!reset->failed) Fail(*reset, result);
  }
}

// The walk is over. Completes the resets that did not fail; the failed ones leave their buckets
// without a header and with the old position.
void ResetWalk::Finish() {
  outstanding_ = 1;
  next_step_ = &ResetWalk::AnswerAll;
  for (auto& reset : walking_) {
    if (reset->failed) continue;
    ++outstanding_;
    End(*reset);
  }
  StepDone();
}

void ResetWalk::AnswerAll() {
  const auto answered = std::move(walking_);
  walking_.clear();
  for (const auto& reset : answered) reset->answer(std::move(reset->reply));
  StartIfIdle();
}

}  // namespace fanline::redis
