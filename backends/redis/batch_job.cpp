#include "backends/redis/batch_job.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <variant>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/scripts.h"
#include "fanline/model/member.h"

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
  std::span<const Item> removes;
  std::span<const Mark> marks;
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
  uint32_t NumberOf(const Mark& mark) {
    const auto [known, is_new] = marks_.try_emplace(mark, 0);
    if (is_new) known->second = Add(mark);
    return known->second;
  }
  size_t size() const { return items_.size(); }
  void Arg(CommandBuffer& out) const {
    for (const auto& each : items_) {
      if (const Item* item = std::get_if<Item>(&each)) {
        out.Args(ScoreOf(item->created_at), MemberText(*item));
      } else {
        out.Args(kScoreOfMarks, MemberText::OfMark(std::get<Mark>(each)));
      }
    }
  }

 private:
  uint32_t Add(std::variant<Item, Mark> each) {
    items_.push_back(each);
    return static_cast<uint32_t>(items_.size());
  }

  std::vector<std::variant<Item, Mark>> items_;
  std::unordered_map<PostId, uint32_t> numbers_;  // the latest of that post
  std::map<Mark, uint32_t> marks_;
};

// `number` points to the numbers of the write's adds and marks, and is moved behind them.
void ArgWrite(const Contents& write, const uint32_t*& number, CommandBuffer& out) {
  if (!write.is_one_add()) {
    out.Arg(-static_cast<int64_t>(write.numbers() + kRemoveUnit * write.removes.size()));
  }
  for (size_t i = 0; i < write.numbers(); ++i) out.Arg(*number++);
  for (const Item& item : write.removes) {
    item.created_at == 0 ? out.Arg("") : out.Arg(ScoreOf(item.created_at));
    out.Arg(MemberText::OfRemoved(item));
  }
}

}  // namespace

// ---- the calls ------------------------------------------------------------------------------

BatchCall NextCall(const TimelineBatch& batch, uint32_t first, const Options& options) {
  const auto most = static_cast<uint32_t>(
      std::min<size_t>(batch.writes.size() - first, options.timelines_per_call));
  BatchCall call{first, first};
  size_t arguments = 3 + kFixedKeys + kFixedArguments;
  for (; call.last < first + most; ++call.last) {
    // Its key and shape, for each number an item that no other write has, and two for each remove.
    const Contents its(batch, call.last);
    arguments += 2 + 3 * its.numbers() + 2 * its.removes.size();
    if (call.last > first && arguments > kMostArguments) break;
  }
  return call;
}

CommandBuffer EncodeApply(const TimelineBatch& batch, BatchCall call, const Options& options,
                          const Keys& keys) {
  ItemTable table;
  std::vector<uint32_t> numbers;              // of the writes' adds and marks, in order
  size_t arguments = call.last - call.first;  // of the timelines
  for (uint32_t write = call.first; write < call.last; ++write) {
    const Contents its(batch, write);
    if (!its.is_one_add()) arguments += its.numbers() + 2 * its.removes.size();
    for (const Item& item : its.adds) numbers.push_back(table.NumberOf(item));
    for (const Mark& mark : its.marks) numbers.push_back(table.NumberOf(mark));
  }

  CommandBuffer out = BeginCall(Script::kApply, kFixedKeys + call.last - call.first,
                                kFixedArguments + 2 * table.size() + arguments);
  out.Args(keys.Own(batch.range), keys.Live(batch.range), keys.MaxFloor(batch.range));
  for (uint32_t write = call.first; write < call.last; ++write) {
    out.Arg(keys.Timeline(batch.range, batch.writes[write].reader));
  }
  out.Args(batch.epoch, options.window.window, options.window.trim_above(),
           options.window.underfilled_below(), options.window.most_marks(), table.size());
  table.Arg(out);
  const uint32_t* number = numbers.data();
  for (uint32_t write = call.first; write < call.last; ++write) {
    ArgWrite(Contents(batch, write), number, out);
  }
  return out;
}

// ---- the job --------------------------------------------------------------------------------

BatchJob::BatchJob(TimelineBatch batch, const Options& options, const Keys& keys,
                   Answer<BatchWritten> answer)
    : batch_(std::move(batch)), options_(options), keys_(keys), answer_to_(std::move(answer)) {
  answer_.results.assign(batch_.writes.size(), BatchWritten::kNotLive);
}

void BatchJob::StartCall(CommandChannel& channel, std::function<void(bool more)> done) {
  const BatchCall call = NextCall(batch_, next_, options_);
  next_ = call.last;
  channel.Call(EncodeApply(batch_, call, options_, keys_),
               [self = shared_from_this(), call, done = std::move(done)](const CallResult& result) {
                 const bool taken = result.status.done() ? self->TakeResults(call, *result.reply)
                                                         : self->Fail(result);
                 const bool more = taken && call.last < self->batch_.writes.size();
                 if (!more) self->answer_to_(std::move(self->answer_));
                 done(more);
               });
}

// Returns false, like TakeResults on failure: the rest of the batch is not worth sending.
bool BatchJob::Fail(const CallResult& result) {
  answer_.needs_claim = result.needs_claim;
  answer_.status = result.status;
  return false;
}

// A byte for each write: 'x' failed, '-' not live, '0'.. the number of new items.
bool BatchJob::TakeResults(BatchCall call, const redisReply& reply) {
  const CallResult unexpected{UnexpectedAnswer("apply"), false, nullptr};
  if (!IsArray(reply, 6)) return Fail(unexpected);
  const std::string_view bytes = Text(At(reply, 0));
  if (bytes.size() < call.last - call.first) return Fail(unexpected);
  for (uint32_t write = call.first; write < call.last; ++write) {
    const char byte = bytes[write - call.first];
    answer_.results[write] = byte == 'x'   ? BatchWritten::kKeyFailed
                             : byte == '-' ? BatchWritten::kNotLive
                                           : static_cast<int8_t>(byte - '0');
  }
  answer_.removed += static_cast<uint64_t>(Integer(At(reply, 1)).value_or(0));
  answer_.trimmed += static_cast<uint64_t>(Integer(At(reply, 2)).value_or(0));
  answer_.underfilled += static_cast<uint64_t>(Integer(At(reply, 3)).value_or(0));
  answer_.full += static_cast<uint64_t>(Integer(At(reply, 5)).value_or(0));
  if (answer_.key_error.empty()) answer_.key_error = Text(At(reply, 4));
  return true;
}

}  // namespace fanline::redis
