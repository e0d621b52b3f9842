#include "timeline/reader.h"

namespace fanline::timeline {
namespace {

// Carries out one read of the truth and hands the answer to the asker, a PageRead or a Rebuild.
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
    auto status = truth.Items(need.posts, need.span, need.limit, &read);
    if (status.done()) asker.OnItems(std::move(read));
    return status;
  }
  Status operator()(const NothingNeeded&) { return Status::Done(); }
};

struct AnswerPage : AnswerFromTruth<PageRead> {
  using AnswerFromTruth<PageRead>::operator();
  Status operator()(const NeedTimeline&) {
    asker.OnNoTimeline();
    return Status::Done();
  }
};

struct AnswerRebuild : AnswerFromTruth<Rebuild> {
  ReaderTimelines& timelines;
  const Reader::Admit& admit;
  bool admitted = false;  // `admit` is asked once, however often the rebuild begins

  using AnswerFromTruth<Rebuild>::operator();
  // A user who follows somebody is known, so few have to be looked up.
  Status operator()(const NeedFollowees&) {
    std::vector<UserId> authors;
    auto status = truth.Followees(reader, &authors);
    if (status.done() && authors.empty() && admit) {
      UserFacts facts;
      status = truth.LookUp(reader, &facts);
      admitted = admitted || facts.known || (status.done() && admit());
      if (status.done() && !admitted) {
        asker.OnNotAdmitted();
        return timelines.Abandon(reader, asker.token());
      }
    }
    if (status.done()) asker.OnFollowees(std::move(authors));
    return status;
  }
  Status operator()(const NeedBegin& need) {
    RebuildBegun begun{};
    auto status = timelines.Begin(reader, need.token, &begun);
    if (status.done()) asker.OnBegun(begun);
    return status;
  }
  Status operator()(const NeedFinish& need) {
    bool applied = false;
    auto status = truth.Confirm();
    if (!status.done()) return status;
    status = timelines.Finish(reader, need.token, need.items, need.floor, need.marked, &applied);
    if (status.done()) asker.OnFinished(applied);
    return status;
  }
};

template <typename Goes>
Status FinishWhile(UserId reader, ReaderTruth& truth, PageRead& read, const Goes& goes_on) {
  truth.ForgetReads();  // as in Activate
  AnswerPage answer{{reader, truth, read}};
  while (goes_on()) {
    if (auto status = std::visit(answer, read.needed()); !status.done()) return status;
  }
  return truth.Confirm();
}

}  // namespace

std::string_view NameOf(EmptyReason reason) {
  switch (reason) {
    case EmptyReason::kNoSuchUser:
      return "no_such_user";
    case EmptyReason::kFollowsNobody:
      return "follows_nobody";
    case EmptyReason::kNoPosts:
      return "no_posts";
  }
  return "";
}

Reader::Reader(ReaderTruth& truth, ReaderTimelines& timelines, WindowLimits window,
               std::function<std::string()> next_token, bool own_posts)
    : truth_(&truth),
      timelines_(&timelines),
      window_(window),
      next_token_(std::move(next_token)),
      own_posts_(own_posts) {}

Status Reader::Activate(UserId reader, RebuildResult* result, const Admit& admit) {
  truth_->ForgetReads();  // left by a rebuild that ended before it confirmed them
  Rebuild rebuild(window_, next_token_, OwnOf(reader, own_posts_));
  AnswerRebuild answer{{reader, *truth_, rebuild}, *timelines_, admit, false};
  while (rebuild.result() == RebuildResult::kUnderWay) {
    if (auto status = std::visit(answer, rebuild.needed()); !status.done()) {
      static_cast<void>(timelines_->Abandon(reader, rebuild.token()));  // else it expires
      return status;
    }
  }
  *result = rebuild.result();
  return Status::Done();
}

Status Reader::Home(UserId reader, const PageQuery& query, Page* page) {
  PageRead read(query, OwnOf(reader, own_posts_));
  static_cast<void>(AskTimeline(reader, *timelines_, read));  // if it fails, the page is pulled
  if (auto status = FinishPage(reader, *truth_, read); !status.done()) return status;
  *page = read.Take();
  return Status::Done();
}

Status AskTimeline(UserId reader, ReaderTimelines& timelines, PageRead& read) {
  const auto need = std::get<NeedTimeline>(read.needed());
  ReaderTimelines::Page cached;
  auto status = timelines.Read(reader, need.after, need.limit, &cached);
  status.done() ? read.OnTimeline(std::move(cached)) : read.OnNoTimeline();
  return status;
}

Status FinishPage(UserId reader, ReaderTruth& truth, PageRead& read) {
  return FinishWhile(reader, truth, read, [&] { return !read.done(); });
}

Status FinishMerge(UserId reader, ReaderTruth& truth, PageRead& read) {
  return FinishWhile(reader, truth, read, [&] { return read.merges(); });
}

Status ReadPosts(UserId author, const PageQuery& query, ReaderTruth& truth, Page* page) {
  TimeSpan span{.above = {}, .up_to = {}, .behind = query.older_than};
  if (query.newer_than) span.above = query.newer_than->created_at - 1;
  std::vector<Item> items;
  auto status = truth.Outbox(author, span, query.limit + 1, &items);
  if (status.done()) *page = PageOf(std::move(items), query);
  return status;
}

Status WhyNoTimeline(UserId reader, ReaderTruth& truth, EmptyReason* reason) {
  UserFacts facts;
  auto status = truth.LookUp(reader, &facts);
  *reason = !facts.known     ? EmptyReason::kNoSuchUser
            : !facts.follows ? EmptyReason::kFollowsNobody
                             : EmptyReason::kNoPosts;
  return status;
}

Status WhyNoPosts(UserId author, ReaderTruth& truth, EmptyReason* reason) {
  UserFacts facts;
  auto status = truth.LookUp(author, &facts);
  *reason = facts.known ? EmptyReason::kNoPosts : EmptyReason::kNoSuchUser;
  return status;
}

}  // namespace fanline::timeline
