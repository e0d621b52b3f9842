#include "timeline/reader.h"

namespace fanline::timeline {
namespace {

// Carries out one read of the truth and hands the answer to the asker, a Pull or a Rebuild.
template <typename Asker>
struct AnswerFromTruth {
  UserId reader;
  ReaderTruth& truth;
  Asker& asker;

  Status operator()(const NeedFollowees&) {
    std::vector<UserId> authors;
    auto status = truth.Followees(reader, &authors);
    if (status.done()) asker.OnFollowees(std::move(authors));
    return status;
  }
  Status operator()(const NeedLastAt& need) {
    std::vector<AuthorLastAt> authors;
    auto status = truth.LastAt(need.authors, &authors);
    if (status.done()) asker.OnLastAt(std::move(authors));
    return status;
  }
  Status operator()(const NeedItems& need) {
    ItemsRead read;
    auto status = truth.Items(need.authors, need.span, need.limit, &read);
    if (status.done()) asker.OnItems(std::move(read));
    return status;
  }
  Status operator()(const NothingNeeded&) { return Status::Done(); }
};

struct AnswerRebuild : AnswerFromTruth<Rebuild> {
  ReaderTimelines& timelines;

  using AnswerFromTruth<Rebuild>::operator();
  Status operator()(const NeedBegin& need) {
    RebuildBegun begun{};
    auto status = timelines.Begin(reader, need.token, &begun);
    if (status.done()) asker.OnBegun(begun);
    return status;
  }
  Status operator()(const NeedFinish& need) {
    bool applied = false;
    auto status = timelines.Finish(reader, need.token, need.items, need.floor, &applied);
    if (status.done()) asker.OnFinished(applied);
    return status;
  }
};

}  // namespace

Reader::Reader(ReaderTruth& truth, ReaderTimelines& timelines, WindowLimits window,
               std::function<std::string()> next_token)
    : truth_(&truth), timelines_(&timelines), window_(window), next_token_(std::move(next_token)) {}

Status Reader::Activate(UserId reader, RebuildResult* result) {
  Rebuild rebuild(window_, next_token_);
  AnswerRebuild answer{{reader, *truth_, rebuild}, *timelines_};
  while (rebuild.result() == RebuildResult::kUnderWay) {
    if (auto status = std::visit(answer, rebuild.needed()); !status.done()) return status;
  }
  *result = rebuild.result();
  return Status::Done();
}

Status Reader::PullPage(UserId reader, const std::optional<Position>& after, uint32_t limit,
                        std::vector<Item>* items, bool* more) {
  Pull pull({.want = limit}, after);
  AnswerFromTruth<Pull> answer{reader, *truth_, pull};
  while (!pull.done()) {
    if (auto status = std::visit(answer, pull.needed()); !status.done()) return status;
  }
  items->insert(items->end(), pull.items().begin(), pull.items().end());
  *more = pull.floor() != kNoFloor;
  return Status::Done();
}

Status Reader::Read(UserId reader, const std::optional<Position>& after, uint32_t limit,
                    Page* page) {
  ReaderTimelines::Page cached;
  if (auto status = timelines_->Read(reader, after, limit, &cached); !status.done()) return status;
  const bool ready = cached.state == TimelineState::kReady;
  bool more = true;
  page->live = ready;
  if (ready) {
    page->items = std::move(cached.items);
    page->cached = page->items.size();
    if (cached.reached_floor && cached.floor == kNoFloor) more = false;
  }
  if (page->items.size() < limit && more) {
    auto from = after;
    if (!page->items.empty()) from = {page->items.back().created_at, page->items.back().post};
    const auto rest = static_cast<uint32_t>(limit - page->items.size());
    if (auto status = PullPage(reader, from, rest, &page->items, &more); !status.done()) {
      return status;
    }
  }
  if (more && !page->items.empty()) {
    page->next = {page->items.back().created_at, page->items.back().post};
  }
  if (ready || after) return Status::Done();
  // The page is complete. If its timeline cannot be made live now (Redis is full, another rebuild
  // is under way, the range is still served under another topic generation), the read still
  // succeeds; the next one tries again.
  RebuildResult ignored;
  static_cast<void>(Activate(reader, &ignored));
  return Status::Done();
}

}  // namespace fanline::timeline
