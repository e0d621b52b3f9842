#include "backends/redis/batch_job.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <variant>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/scripts.h"

namespace fanline::redis {
namespace {

constexpr size_t kFixedKeys = 3;
constexpr size_t kFixedArguments = 6;
constexpr uint32_t kRemoveUnit = 32;  // shape = -(adds + 32 * removes)
static_assert(kMaxAddsPerWrite < kRemoveUnit);

// Of the batch's adds, removes or marks those of a write: from the previous write's end to its own.
template <class Each>
std::span<const Each> Of(const std::vector<Each>& all, uint32_t TimelineBatch::Write::*end,
                         const TimelineBatch& batch, uint32_t write) {
  const uint32_t begin = write == 0 ? 0 : batch.writes[write - 1].*end;
  return std::span(all).subspan(begin, batch.writes[write].*end - begin);
}

// A write's own.
struct Contents {
  Contents(const TimelineBatch& batch, uint32_t write)
      : adds(Of(batch.adds, &TimelineBatch::Write::adds_end, batch, write)),
        removes(Of(batch.removes, &TimelineBatch::Write::removes_end, batch, write)),
        marks(Of(batch.marks, &TimelineBatch::Write::marks_end, batch, write)) {}

  size_t numbers() const { return adds.size() + marks.size(); }
  bool is_one_add() const { return adds.size() == 1 && removes.empty() && marks.empty(); }

  std::span<const Item> adds;
  std::span<const PostId> removes;
  std::span<const UserId> marks;
};

// The distinct items and marks of a call, numbered from 1: a post on its way to many timelines is
// sent once.
class ItemTable {
 public:
  uint32_t NumberOf(const Item& item) {
    const auto [known, is_new] = numbers_.try_emplace(item.post, 0);
    if (is_new || std::get<Item>(items_[known->second - 1]) != item) known->second = Add(item);
    return known->second;
  }
  uint32_t NumberOf(UserId author) {
    const auto [known, is_new] = authors_.try_emplace(author, 0);
    if (is_new) known->second = Add(author);
    return known->second;
  }
  size_t size() const { return items_.size(); }
  void Arg(CommandBuffer& out) const {
    for (const auto& each : items_) {
      if (const Item* item = std::get_if<Item>(&each)) {
        out.Args(ScoreOf(item->created_at), MemberText(item->post));
      } else {
        out.Args(kScoreOfMarks, MemberText::OfMark(std::get<UserId>(each)));
      }
    }
  }

 private:
  uint32_t Add(std::variant<Item, UserId> each) {
    items_.push_back(each);
    return static_cast<uint32_t>(items_.size());
  }

  std::vector<std::variant<Item, UserId>> items_;
  std::unordered_map<PostId, uint32_t> numbers_;  // the latest of that post
  std::unordered_map<UserId, uint32_t> authors_;
};

// `number` points to the numbers of the write's adds and marks, and is moved behind them.
void ArgWrite(const Contents& write, const uint32_t*& number, CommandBuffer& out) {
  if (!write.is_one_add()) {
    out.Arg(-static_cast<int64_t>(write.numbers() + kRemoveUnit * write.removes.size()));
  }
  for (size_t i = 0; i < write.numbers(); ++i) out.Arg(*number++);
  for (const PostId post : write.removes) out.Arg(MemberText(post));
}

}  // namespace

// ---- the calls ------------------------------------------------------------------------------

std::vector<BatchPart> CutBatch(const TimelineBatch& batch, const Options& options) {
  std::vector<BatchPart> parts;
  const auto writes = static_cast<uint32_t>(batch.writes.size());
  for (uint32_t first = 0; first < writes; first += options.keys_per_call) {
    parts.push_back({first, std::min(first + options.keys_per_call, writes)});
  }
  return parts;
}

BatchPart NextCall(const TimelineBatch& batch, BatchPart part, const std::vector<bool>& keep,
                   uint32_t done, const Options& options) {
  BatchPart call{part.first + done, part.first + done};
  size_t arguments = 3 + kFixedKeys + kFixedArguments;
  for (uint32_t kept = 0; call.last < part.last; ++call.last) {
    if (!keep[call.last - part.first]) continue;
    // Its key and shape, for each number an item that no other write has, and each remove.
    const Contents its(batch, call.last);
    arguments += 2 + 3 * its.numbers() + its.removes.size();
    ++kept;
    if (kept > options.timelines_per_call || (kept > 1 && arguments > kMostArguments)) break;
  }
  return call;
}

CommandBuffer EncodePrune(const TimelineBatch& batch, BatchPart part, const Keys& keys) {
  CommandBuffer out;
  out.Begin(3 + part.last - part.first);
  out.Args("SMISMEMBER", keys.Live(batch.range), "#complete");
  for (uint32_t write = part.first; write < part.last; ++write) {
    out.Arg(Raw(batch.writes[write].reader));
  }
  return out;
}

CommandBuffer EncodeApply(const TimelineBatch& batch, BatchPart call, const std::vector<bool>& keep,
                          const Options& options, const Keys& keys) {
  const auto each_kept = [&](auto visit) {
    for (uint32_t write = call.first; write < call.last; ++write) {
      if (keep[write - call.first]) visit(write);
    }
  };
  ItemTable table;
  std::vector<uint32_t> numbers;  // of the kept writes' adds, in order
  size_t timelines = 0;
  size_t arguments = 0;  // of the timelines
  each_kept([&](uint32_t write) {
    const Contents its(batch, write);
    ++timelines;
    ++arguments;
    if (!its.is_one_add()) arguments += its.numbers() + its.removes.size();
    for (const Item& item : its.adds) numbers.push_back(table.NumberOf(item));
    for (const UserId author : its.marks) numbers.push_back(table.NumberOf(author));
  });

  CommandBuffer out = BeginCall(Script::kApply, kFixedKeys + timelines,
                                kFixedArguments + 2 * table.size() + arguments);
  out.Args(keys.Own(batch.range), keys.Live(batch.range), keys.MaxFloor(batch.range));
  each_kept(
      [&](uint32_t write) { out.Arg(keys.Timeline(batch.range, batch.writes[write].reader)); });
  out.Args(batch.epoch, options.window.window, options.window.trim_above(),
           options.window.underfilled_below(), options.window.most_marks(), table.size());
  table.Arg(out);
  const uint32_t* number = numbers.data();
  each_kept([&](uint32_t write) { ArgWrite(Contents(batch, write), number, out); });
  return out;
}

// ---- the job --------------------------------------------------------------------------------

BatchJob::BatchJob(TimelineBatch batch, const Options& options, const Keys& keys, PruneGate& gate,
                   std::function<void()> part_done, Answer<BatchWritten> answer)
    : batch_(std::move(batch)),
      options_(options),
      keys_(keys),
      gate_(gate),
      part_done_(std::move(part_done)),
      answer_to_(std::move(answer)),
      parts_(CutBatch(batch_, options)) {
  answer_.results.assign(batch_.writes.size(), BatchWritten::kNotLive);
}

void BatchJob::StartPart(CommandChannel& channel) {
  if (parts_.empty()) {  // a batch of nothing
    parts_.resize(1);
    next_part_ = 1;
    FinishPart();
    return;
  }
  const BatchPart span = parts_[next_part_++];
  auto part = std::make_shared<Part>(Part{span, std::vector<bool>(span.last - span.first, true)});
  if (gate_.open()) {
    Prune(channel, part);
  } else {
    Apply(channel, part);
  }
}

void BatchJob::Prune(CommandChannel& channel, std::shared_ptr<Part> part) {
  channel.Call(EncodePrune(batch_, part->span, keys_),
               [self = shared_from_this(), part, &channel](const CallResult& result) {
                 self->TakeIndex(*part, result);
                 self->Apply(channel, part);
               });
}

// Without an answer or a header nobody is left out; the script finds who is not live.
void BatchJob::TakeIndex(Part& part, const CallResult& result) {
  if (result.reply == nullptr || !IsArray(*result.reply, 1 + part.keep.size())) return;
  if (Integer(At(*result.reply, 0)) != 1) return;
  for (size_t i = 0; i < part.keep.size(); ++i) {
    part.keep[i] = Integer(At(*result.reply, 1 + i)) != 0;
    answer_.pruned += !part.keep[i];
  }
}

void BatchJob::Apply(CommandChannel& channel, std::shared_ptr<Part> part) {
  const BatchPart call = NextCall(batch_, part->span, part->keep, part->done, options_);
  const auto first = part->keep.begin() + (call.first - part->span.first);
  CommandBuffer command =
      EncodeApply(batch_, call, {first, first + (call.last - call.first)}, options_, keys_);
  channel.Call(std::move(command), [self = shared_from_this(), part, call,
                                    &channel](const CallResult& result) {
    const bool taken =
        result.status.done() ? self->TakeResults(*part, call, *result.reply) : self->Fail(result);
    part->done = call.last - part->span.first;
    if (taken && call.last < part->span.last) return self->Apply(channel, part);
    self->FinishPart();
  });
}

void BatchJob::FinishPart() {
  part_done_();
  if (++finished_ == parts_.size()) answer_to_(std::move(answer_));
}

// Returns false, like TakeResults on failure: the rest of the part is not worth sending.
bool BatchJob::Fail(const CallResult& result) {
  answer_.needs_claim = answer_.needs_claim || result.needs_claim;
  if (answer_.status.done()) answer_.status = result.status;
  return false;
}

// A byte for each write: 'x' failed, '-' not live, '0'.. the number of new items.
bool BatchJob::TakeResults(const Part& part, BatchPart call, const redisReply& reply) {
  const CallResult unexpected{UnexpectedAnswer("apply"), false, nullptr};
  if (!IsArray(reply, 6)) return Fail(unexpected);
  const std::string_view bytes = Text(At(reply, 0));
  size_t next = 0;
  size_t not_live = 0;
  for (uint32_t write = call.first; write < call.last; ++write) {
    const bool kept = part.keep[write - part.span.first];
    not_live += !kept;
    if (!kept) continue;
    if (next == bytes.size()) return Fail(unexpected);
    const char byte = bytes[next++];
    answer_.results[write] = byte == 'x'   ? BatchWritten::kKeyFailed
                             : byte == '-' ? BatchWritten::kNotLive
                                           : static_cast<int8_t>(byte - '0');
    not_live += byte == '-';
  }
  gate_.Note(call.last - call.first, not_live);
  answer_.removed += static_cast<uint64_t>(Integer(At(reply, 1)).value_or(0));
  answer_.trimmed += static_cast<uint64_t>(Integer(At(reply, 2)).value_or(0));
  answer_.underfilled += static_cast<uint64_t>(Integer(At(reply, 3)).value_or(0));
  answer_.full += static_cast<uint64_t>(Integer(At(reply, 5)).value_or(0));
  if (answer_.key_error.empty()) answer_.key_error = Text(At(reply, 4));
  return true;
}

}  // namespace fanline::redis
