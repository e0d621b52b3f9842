#include "api/pages.h"

#include <utility>

namespace fanline::api {

using timeline::EmptyReason;
using State = PageFacts::State;

// One page on its way, from one thread to the next.
struct Pages::Serving {
  std::shared_ptr<const PageCall> call;
  std::string_view route;
  Answer answer;
  timeline::PageRead read;
  bool redis_answered = false;
  timeline::Page page;
  PageFacts facts;

  void Send() {
    Response response;
    response.body = call->answer(*call, page, facts).dump();
    answer(std::move(response));
  }
  // The truth said that there is nothing: why is worth a look.
  bool pulled_nothing() const { return page.items.empty() && !page.live(); }
};

void Pages::Serve(std::shared_ptr<const PageCall> call, std::string_view route, Answer answer) {
  const timeline::PageQuery query = call->query;
  const auto page = std::make_shared<Serving>(
      Serving{std::move(call), route, std::move(answer), timeline::PageRead(query), false, {}, {}});
  if (page->call->of == PageCall::Of::kPosts) return ServePosts(page);
  ServeHome(page);
}

void Pages::ServeHome(const Shared& page) {
  timelines_.Submit(
      {0, {0}},
      [this, page](ReaderTimelines* store, Slots::Refusal) {
        if (store == nullptr) {
          page->read.OnNoTimeline();
        } else {
          const Status status = timeline::AskTimeline(page->call->user, *store, page->read);
          page->redis_answered = status.done();
          if (!status.done()) metrics_.StoreFailed(page->route, status.resource, status.message);
        }
        if (!page->read.done()) return Pull(page);
        page->page = page->read.Take();
        if (page->page.items.empty() && page->call->whole()) return LookUpReason(page);
        AnswerHome(*page);
      },
      true);
}

void Pages::Pull(const Shared& page) {
  truth_.Submit(Touched::Everywhere(page->call->user, map_),
                [this, page](ReaderTruth* truth, Slots::Refusal refusal) {
                  if (truth == nullptr) return page->answer(ToResponse(ProblemOf(refusal)));
                  const Status status = timeline::FinishPage(page->call->user, *truth, page->read);
                  if (!status.done()) return Fail(*page, status);
                  page->page = page->read.Take();
                  if (page->pulled_nothing()) FindReason(*page, *truth);
                  AnswerHome(*page);
                });
}

void Pages::ServePosts(const Shared& page) {
  truth_.Submit(Touched::Of({page->call->user}, map_),
                [this, page](ReaderTruth* truth, Slots::Refusal refusal) {
                  const PageCall& call = *page->call;
                  if (truth == nullptr) return page->answer(ToResponse(ProblemOf(refusal)));
                  Status status = timeline::ReadPosts(call.user, call.query, *truth, &page->page);
                  if (status.done() && page->page.items.empty() && call.whole()) {
                    EmptyReason reason{};
                    status = timeline::WhyNoPosts(call.user, *truth, &reason);
                    page->facts.empty_because = reason;
                  }
                  if (!status.done()) return Fail(*page, status);
                  page->Send();
                });
}

// The page is whole: without the reason it is served all the same.
void Pages::LookUpReason(const Shared& page) {
  page->facts.empty_because = reasons_.Find(page->call->user, clock_().mono);
  if (page->facts.empty_because) return AnswerHome(*page);
  truth_.Submit(Touched::Of({page->call->user}, map_),
                [this, page](ReaderTruth* truth, Slots::Refusal) {
                  if (truth != nullptr) FindReason(*page, *truth);
                  AnswerHome(*page);
                });
}

void Pages::FindReason(Serving& page, ReaderTruth& truth) {
  const UserId reader = page.call->user;
  EmptyReason reason{};
  const Status status = timeline::WhyNoTimeline(reader, truth, &reason);
  if (!status.done()) return metrics_.StoreFailed(page.route, status.resource, status.message);
  page.facts.empty_because = reason;
  reasons_.Note(reader, reason, clock_().mono);
}

void Pages::AnswerHome(Serving& page) {
  page.facts.state = State::kPulled;
  if (page.page.live()) {
    page.facts.state = State::kLive;
  } else if (page.page.timeline == TimelineState::kBuilding) {
    page.facts.state = State::kBuilding;
  } else if (page.redis_answered && !page.call->query.older_than) {
    const bool known = page.facts.empty_because != EmptyReason::kNoSuchUser;
    if (rebuilds_.Offer(page.call->user, known)) page.facts.state = State::kBuilding;
  }
  if (!page.call->whole() || !page.page.items.empty()) page.facts.empty_because.reset();
  metrics_.PageServed(page.facts.state);
  page.Send();
}

void Pages::Fail(Serving& page, const Status& status) {
  metrics_.StoreFailed(page.route, status.resource, status.message);
  page.answer(ToResponse(status.later() ? StoreAway() : ProblemOfStatus(500)));
}

}  // namespace fanline::api
