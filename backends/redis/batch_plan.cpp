#include "backends/redis/batch_plan.h"

#include <unordered_map>

#include "backends/redis/keys.h"

namespace fanline::redis {
namespace {

// About what a write takes on the wire.
constexpr size_t kBytesPerWrite = 64;
constexpr size_t kBytesPerAdd = 48;
constexpr size_t kBytesPerRemove = 27;

constexpr size_t kFixedArguments = 6;
constexpr uint32_t kRemoveUnit = 32;  // shape = -(adds + 32 * removes)
static_assert(kMaxAddsPerWrite < kRemoveUnit);

uint32_t AddsBegin(const TimelineBatch& batch, uint32_t write) {
  return write == 0 ? 0 : batch.writes[write - 1].adds_end;
}
uint32_t RemovesBegin(const TimelineBatch& batch, uint32_t write) {
  return write == 0 ? 0 : batch.writes[write - 1].removes_end;
}
uint32_t Adds(const TimelineBatch& batch, uint32_t write) {
  return batch.writes[write].adds_end - AddsBegin(batch, write);
}
uint32_t Removes(const TimelineBatch& batch, uint32_t write) {
  return batch.writes[write].removes_end - RemovesBegin(batch, write);
}
bool IsOneAdd(const TimelineBatch& batch, uint32_t write) {
  return Adds(batch, write) == 1 && Removes(batch, write) == 0;
}

// The distinct items of a call, numbered from 1: a post on its way to many timelines is sent once.
class ItemTable {
 public:
  uint32_t NumberOf(const Item& item) {
    const auto [known, is_new] = numbers_.try_emplace(item.post, 0);
    if (is_new || items_[known->second - 1] != item) {
      items_.push_back(item);
      known->second = static_cast<uint32_t>(items_.size());
    }
    return known->second;
  }
  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
  std::unordered_map<PostId, uint32_t> numbers_;  // the latest of that post
};

// What EncodeApply must know before it can count the arguments.
struct ApplyPlan {
  std::vector<uint32_t> kept;     // writes of each run
  std::vector<uint32_t> numbers;  // of the kept writes' adds, in order
  ItemTable items;
  size_t timelines = 0;
  size_t arguments = 0;  // of the timelines

  ApplyPlan(const TimelineBatch& batch, std::span<const BucketRun> runs,
            const std::vector<bool>& keep)
      : kept(runs.size(), 0) {
    const uint32_t base = runs.front().first;
    for (size_t r = 0; r < runs.size(); ++r) {
      for (uint32_t write = runs[r].first; write < runs[r].last; ++write) {
        if (!keep[write - base]) continue;
        ++kept[r];
        Take(batch, write);
      }
    }
  }

 private:
  void Take(const TimelineBatch& batch, uint32_t write) {
    ++timelines;
    ++arguments;
    for (uint32_t i = AddsBegin(batch, write); i < batch.writes[write].adds_end; ++i) {
      numbers.push_back(items.NumberOf(batch.adds[i]));
    }
    if (!IsOneAdd(batch, write)) arguments += Adds(batch, write) + Removes(batch, write);
  }
};

void ArgItem(const Item& item, CommandBuffer& out) {
  out.Arg(-item.created_at);
  out.Arg(MemberText(item.post));
}

// `number` points to the item numbers of the write's adds, and is moved behind them.
void ArgWrite(const TimelineBatch& batch, uint32_t write, const uint32_t*& number,
              CommandBuffer& out) {
  if (!IsOneAdd(batch, write)) {
    out.Arg(-static_cast<int64_t>(Adds(batch, write) + kRemoveUnit * Removes(batch, write)));
  }
  for (uint32_t i = 0; i < Adds(batch, write); ++i) out.Arg(*number++);
  for (uint32_t i = RemovesBegin(batch, write); i < batch.writes[write].removes_end; ++i) {
    out.Arg(MemberText(batch.removes[i]));
  }
}

}  // namespace

std::vector<BatchPart> CutBatch(const TimelineBatch& batch, const Options& options) {
  std::vector<BatchPart> parts;
  size_t bytes = 0;
  for (uint32_t write = 0; write < batch.writes.size(); ++write) {
    const size_t more = kBytesPerWrite + kBytesPerAdd * Adds(batch, write) +
                        kBytesPerRemove * Removes(batch, write);
    const bool full =
        !parts.empty() && (parts.back().last - parts.back().first == options.keys_per_call ||
                           bytes + more > options.bytes_per_call);
    if (parts.empty() || full) {
      parts.push_back({write, write});
      bytes = 0;
    }
    parts.back().last = write + 1;
    bytes += more;
  }
  return parts;
}

std::vector<BucketRun> RunsOf(const TimelineBatch& batch, BatchPart part) {
  std::vector<BucketRun> runs;
  for (uint32_t write = part.first; write < part.last; ++write) {
    const Bucket bucket = batch.writes[write].bucket;
    if (runs.empty() || runs.back().bucket != bucket) runs.push_back({bucket, write, write});
    runs.back().last = write + 1;
  }
  return runs;
}

void EncodePrune(const TimelineBatch& batch, const BucketRun& run, CommandBuffer& out) {
  out.Begin(3 + run.last - run.first);
  out.Arg("SMISMEMBER");
  out.Arg(Key::Live(run.bucket));
  out.Arg("#complete");
  for (uint32_t write = run.first; write < run.last; ++write) {
    out.Arg(Raw(batch.writes[write].reader));
  }
}

void EncodeApply(const TimelineBatch& batch, std::span<const BucketRun> runs,
                 const std::vector<bool>& keep, const Options& options, std::string_view digest,
                 CommandBuffer& out) {
  const uint32_t base = runs.front().first;
  const ApplyPlan plan(batch, runs, keep);
  const auto& items = plan.items.items();
  const size_t keys = 3 * runs.size() + plan.timelines;
  const size_t arguments = kFixedArguments + 2 * items.size() + runs.size() + plan.arguments;

  out.Begin(3 + keys + arguments);
  out.Arg("EVALSHA");
  out.Arg(digest);
  out.Arg(keys);
  for (const BucketRun& run : runs) out.Arg(Key::Own(run.bucket));
  for (const BucketRun& run : runs) out.Arg(Key::Live(run.bucket));
  for (const BucketRun& run : runs) out.Arg(Key::Edge(run.bucket));
  const auto each_kept = [&](auto visit) {
    for (uint32_t write = base; write < runs.back().last; ++write) {
      if (keep[write - base]) visit(write);
    }
  };
  each_kept([&](uint32_t write) {
    out.Arg(Key::Timeline(batch.writes[write].bucket, batch.writes[write].reader));
  });
  out.Arg(batch.epoch);
  out.Arg(runs.size());
  out.Arg(options.window.window);
  out.Arg(options.window.trim_above());
  out.Arg(options.window.underfilled_below());
  out.Arg(items.size());
  for (const Item& item : items) ArgItem(item, out);
  for (uint32_t count : plan.kept) out.Arg(count);
  const uint32_t* number = plan.numbers.data();
  each_kept([&](uint32_t write) { ArgWrite(batch, write, number, out); });
}

}  // namespace fanline::redis
