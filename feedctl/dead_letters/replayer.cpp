#include "feedctl/dead_letters/replayer.h"

#include <memory>
#include <utility>

namespace fanline::feedctl {
namespace {

constexpr size_t kMostUnderWay = 500;
constexpr size_t kMostBytesUnderWay = 8 * 1024 * 1024;
constexpr size_t kMostHintsKnown = 1'000'000;  // beyond, they are forgotten and some are repeated
constexpr int32_t kByKey = -1;

}  // namespace

void Replayer::Take(Letter letter, const ReplayPlan& plan) {
  if (items_.size() >= kMostUnderWay || bytes_ >= kMostBytesUnderWay) Finish();
  bytes_ += letter.record.value.size();
  Item& item = items_.emplace_back(Item{std::move(letter), &acks_});
  if (const auto* again = std::get_if<AppendAgain>(&plan)) {
    Send(item, *again);
  } else {
    Send(item, std::get<HintAnew>(plan));
  }
}

void Replayer::Send(Item& item, const AppendAgain& plan) {
  acks_.Expect();
  produce_(plan.topic, kByKey, plan.key, plan.value, plan.headers,
           [&item](const Status& status) { item.Answer(status); });
}

void Replayer::Send(Item& item, const HintAnew& plan) {
  const auto* sync = std::get_if<Hint::Sync>(&plan.hint.what);
  const uint64_t about =
      sync != nullptr ? Raw(sync->reader) : Raw(std::get<Hint::Post>(plan.hint.what).post);
  const auto [known, first] =
      hints_.try_emplace({plan.hint.what.index(), about, Raw(plan.hint.author)}, &item);
  item.same = first ? nullptr : known->second;
  if (!first) return;
  acks_.Expect();
  AppendHints request{0, {}, {}};
  const auto headers = std::make_shared<const Headers>(plan.headers);
  for (const Range range : plan.ranges) {
    request.hints.emplace_back(range, plan.hint);
    request.headers.push_back(headers);
  }
  hint_log_.Submit(std::move(request), item);
}

// Appends the mark to the letter's own partition, so that everyone who reads the letter also reads
// its mark.
void Replayer::Mark(Item& item) {
  acks_.Expect();
  const LogPlace& place = item.letter.place;
  produce_(place.topic, place.partition, {}, {}, MarkOf(place),
           [&item](const Status& status) { item.Answer(status); });
}

void Replayer::Finish() {
  acks_.AwaitAtMost(0);
  for (Item& item : items_) {
    if (item.same != nullptr) item.status = item.same->status;
  }
  for (Item& item : items_) {
    if (item.status.done()) Mark(item);
  }
  acks_.AwaitAtMost(0);
  for (const Item& item : items_) {
    if (failure_.done() && item.status.later()) failure_ = item.status;
    report_(item.letter, item.status);
  }
  std::erase_if(hints_, [](const auto& hint) {
    return hint.second != nullptr && !hint.second->status.done();
  });
  for (auto& [key, item] : hints_) item = nullptr;
  if (hints_.size() > kMostHintsKnown) hints_.clear();
  items_.clear();
  bytes_ = 0;
}

}  // namespace fanline::feedctl
