#include "api/pages.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/operations/bounds.h"

namespace fanline::api {

using timeline::EmptyReason;
using State = PageFacts::State;

// A page that is being served. One thread hands it to the next.
struct Pages::Serving {
  std::shared_ptr<const PageCall> call;
  std::string_view route;
  Answer answer;
  UnixMs asked_at = 0;
  timeline::Hydration hydration;                // of a page with bodies
  std::optional<timeline::PageRead> read = {};  // of a home timeline: the page or the refill
  timeline::PageQuery query = {};               // of the page or the refill
  UnixMs read_at = 0;  // when its timeline was read; much later if it awaited a rebuild
  bool refill = false;
  bool can_be_built = false;  // nothing is known to be wrong with Redis
  bool awaited = false;       // a rebuild of its timeline was waited for
  timeline::Page page = {};
  PageFacts facts = {};

  // The truth has nothing to show, so the reason is looked up.
  bool pulled_nothing() const { return page.items.empty() && !refill; }
  // There is nothing to show, and the client is told why.
  bool shows_nothing() const {
    return call->whole() && !refill && page.items.empty() && !page.incomplete;
  }
};

void Pages::Serve(std::shared_ptr<const PageCall> call, std::string_view route, Answer answer) {
  if (call->bodies && pools_.bodies == nullptr) {
    return answer(
        ToResponse({Code::kBadParameter,
                    "expand: there are no bodies here; leave it out, or start fanline-api "
                    "with --bodies-mysql"}));
  }
  const timeline::PageQuery query = call->query;
  const auto page = std::make_shared<Serving>(
      Serving{std::move(call), route, std::move(answer), 0, timeline::Hydration(query)});
  page->asked_at = clock_().unix_ms;
  const Duration unsettled = rules_.overlap + MergedPosts::kStale;
  page->facts.settled =
      page->asked_at - std::chrono::ceil<std::chrono::milliseconds>(unsettled).count();
  Read(page, query);
}

void Pages::Read(const Shared& page, const timeline::PageQuery& query) {
  page->query = query;
  if (page->call->of == PageCall::Of::kPosts) return ReadPosts(page);
  BeginHome(page);
}

void Pages::BeginHome(const Shared& page) {
  page->read.emplace(page->query, timeline::OwnOf(page->call->user, rules_.own_posts));
  ReadHome(page);
}

void Pages::ReadHome(const Shared& page) {
  pools_.timelines.Submit(
      {0, {0}},
      [this, page](ReaderTimelines* store, Slots::Refusal refusal) {
        if (store == nullptr) {
          // Too many ask. The rebuild finds out whether the timeline is live.
          page->can_be_built = refusal == Slots::Refusal::kOverloaded;
          page->read->OnNoTimeline();
        } else {
          page->read_at = clock_().unix_ms;
          const Status status = timeline::AskTimeline(page->call->user, *store, *page->read);
          page->can_be_built = status.done();
          if (!status.done()) metrics_.StoreFailed(page->route, status.resource, status.message);
        }
        merged_.Serve(*page->read, page->call->user, clock_().mono);
        page->read->done() ? TakeHome(page) : PullOrAwait(page);
      },
      !page->refill);  // a refill begins on a thread of the bodies' pool, which others need
}

void Pages::TakeHome(const Shared& page) {
  page->page = page->read->Take();
  page->shows_nothing() ? LookUpReason(page) : GotHome(page);
}

// Pulls the page. Waits for its rebuild instead if a pull would have to wait, or if others wait for
// their rebuilds. The rebuild reads the truth for both, which is half the work when many readers
// come back at once.
void Pages::PullOrAwait(const Shared& page) {
  const bool rebuilds = page->can_be_built && !page->query.older_than && !page->read->live();
  if (page->awaited || !rebuilds) return Pull(page);
  const UserId reader = page->call->user;
  const auto pull = [this, page](ReaderTruth* truth, Slots::Refusal refusal) {
    PullBy(page, truth, refusal);
  };
  if (!rebuilds_.HasBacklog() && pools_.truth.TrySubmit(Touched::Everywhere(reader, map_), pull)) {
    return;
  }
  page->awaited = true;
  const bool taken = rebuilds_.Await(reader, [this, page](bool go_on) {
    if (!go_on) return page->answer(ToResponse(ProblemOf(Slots::Refusal::kOverloaded)));
    BeginHome(page);
  });
  if (!taken) Pull(page);
}

void Pages::Pull(const Shared& page) {
  pools_.truth.Submit(TouchedBy(*page), [this, page](ReaderTruth* truth, Slots::Refusal refusal) {
    PullBy(page, truth, refusal);
  });
}

// The shards that the next pull asks. A merge into a live timeline asks the shards of its authors
// alone, if they are named.
Touched Pages::TouchedBy(const Serving& page) const {
  const timeline::Beside* wanted = page.read->beside();
  if (wanted == nullptr) return Touched::Everywhere(page.call->user, map_);
  std::vector<UserId> asked;
  std::remove_copy_if(wanted->authors.begin(), wanted->authors.end(), std::back_inserter(asked),
                      away_);
  return Touched::Of(asked.empty() ? wanted->authors : asked, map_);
}

void Pages::PullBy(const Shared& page, ReaderTruth* truth, Slots::Refusal refusal) {
  if (truth == nullptr) {
    merged_.Serve(*page->read, page->call->user, clock_().mono);  // a shard has just gone away
    return page->read->done() ? TakeHome(page) : Refuse(page, refusal);
  }
  const Status status = PullNext(*page, *truth);
  if (!status.done()) return Fail(page, status);
  if (!page->read->done()) return Pull(page);
  if (page->read->live()) return TakeHome(page);
  page->page = page->read->Take();
  if (page->pulled_nothing()) FindReason(*page, *truth);
  GotHome(page);
}

// Reads what is merged into a live timeline; otherwise all that is left. The two ask different
// shards.
Status Pages::PullNext(Serving& page, ReaderTruth& truth) {
  const UserId reader = page.call->user;
  if (!page.read->merges()) return timeline::FinishPage(reader, truth, *page.read);
  merged_.Load(*page.read, reader, truth, clock_().mono);
  return timeline::FinishMerge(reader, truth, *page.read);
}

void Pages::ReadPosts(const Shared& page) {
  pools_.truth.Submit(Touched::Of({page->call->user}, map_), [this, page](ReaderTruth* truth,
                                                                          Slots::Refusal refusal) {
    const PageCall& call = *page->call;
    if (truth == nullptr) return Refuse(page, refusal);
    Status status = timeline::ReadPosts(call.user, page->query, *truth, &page->page);
    if (status.done() && page->page.items.empty() && call.whole() && !page->refill) {
      EmptyReason reason{};
      status = timeline::WhyNoPosts(call.user, *truth, &reason);
      page->facts.empty_because = reason;
    }
    if (!status.done()) return Fail(page, status);
    Got(page);
  });
}

// Looks up why the page is empty. The page is served without the reason if the reason cannot be
// read, or would have to wait for others' pulls.
void Pages::LookUpReason(const Shared& page) {
  page->facts.empty_because = reasons_.Find(page->call->user, clock_().mono);
  if (page->facts.empty_because) return GotHome(page);
  const bool taken = pools_.truth.TrySubmit(Touched::Of({page->call->user}, map_),
                                            [this, page](ReaderTruth* truth, Slots::Refusal) {
                                              if (truth != nullptr) FindReason(*page, *truth);
                                              GotHome(page);
                                            });
  if (!taken) GotHome(page);
}

void Pages::FindReason(Serving& page, ReaderTruth& truth) {
  const UserId reader = page.call->user;
  EmptyReason reason{};
  const Status status = timeline::WhyNoTimeline(reader, truth, &reason);
  if (!status.done()) return metrics_.StoreFailed(page.route, status.resource, status.message);
  page.facts.empty_because = reason;
  reasons_.Note(reader, reason, clock_().mono);
}

// A range lags if the progress that its pusher reported (as_of) is long ago. Progress in the future
// comes from a wrong clock, so it counts as unknown. A client that has already asked from a later
// place goes on from there.
void Pages::TakeProgress(Serving& page) const {
  using std::chrono::milliseconds;
  const UnixMs overlap = std::chrono::floor<milliseconds>(rules_.overlap).count();
  const UnixMs late = std::max(overlap, UnixMs{milliseconds(kLate).count()});
  const UnixMs as_of = page.page.as_of > page.read_at + late ? 0 : page.page.as_of;
  page.facts.incomplete |= page.read_at - as_of > late;
  UnixMs settled = as_of - overlap;
  const auto& from = page.call->newer_than;
  if (from) settled = std::max(settled, from->place.created_at);
  page.facts.settled = std::min(page.facts.settled, settled);
}

void Pages::GotHome(const Shared& shared) {
  Serving& page = *shared;
  page.facts.incomplete |= page.page.incomplete;
  if (page.page.live()) TakeProgress(page);
  if (page.refill) return Got(shared);
  page.facts.state = State::kPulled;
  if (page.page.live()) {
    page.facts.state = State::kLive;
  } else if (page.page.timeline == TimelineState::kBuilding) {
    page.facts.state = State::kBuilding;
  } else if (page.can_be_built && !page.call->query.older_than) {
    const bool known = page.facts.empty_because != EmptyReason::kNoSuchUser;
    if (rebuilds_.Offer(page.call->user, known)) page.facts.state = State::kBuilding;
  }
  const bool may_be_more = !page.call->whole() || !page.page.items.empty() || page.facts.incomplete;
  if (may_be_more) page.facts.empty_because.reset();
  metrics_.PageServed(page.facts.state);
  Got(shared);
}

void Pages::Got(const Shared& page) {
  if (!page->call->bodies) return Send(page);
  page->hydration.OnPage(std::move(page->page));
  GoOn(page);
}

void Pages::GoOn(const Shared& page) {
  const timeline::HydrationNeed need = page->hydration.needed();
  if (const auto* bodies = std::get_if<timeline::NeedBodies>(&need)) {
    return ReadBodies(page, bodies->posts);
  }
  if (const auto* refill = std::get_if<timeline::NeedPage>(&need)) {
    page->refill = true;
    return Read(page, refill->query);
  }
  timeline::Bodies bodies;
  page->page = page->hydration.Take(&bodies);
  metrics_.BodiesServed(bodies.available, bodies.gone);
  page->facts.bodies = std::move(bodies);
  Send(page);
}

void Pages::Send(const Shared& page) {
  if (page->facts.incomplete) metrics_.IncompleteServed();
  Response response;
  response.body = page->call->answer(*page->call, page->page, page->facts);
  page->answer(std::move(response));
}

void Pages::ReadBodies(const Shared& page, std::vector<PostId> posts) {
  pools_.bodies->Submit({0, {0}},
                        [this, page, posts = std::move(posts)](PostBodies* store, Slots::Refusal) {
                          if (store == nullptr || kept_ > kMostKeptBytes) {
                            page->hydration.OnNoBodies();
                            return GoOn(page);
                          }
                          BodiesRead read;
                          const Status status = store->Read(posts, &read);
                          if (status.done()) {
                            page->facts.columns = &store->columns();
                            page->hydration.OnBodies(std::move(read));
                          } else {
                            metrics_.StoreFailed(page->route, status.resource, status.message);
                            page->hydration.OnNoBodies();
                          }
                          GoOn(page);
                        });
}

// A refill that fails ends the page where it is.
void Pages::Refuse(const Shared& page, Slots::Refusal refusal) {
  if (!page->refill) return page->answer(ToResponse(ProblemOf(refusal)));
  page->hydration.OnNoPage();
  GoOn(page);
}

void Pages::Fail(const Shared& page, const Status& status) {
  metrics_.StoreFailed(page->route, status.resource, status.message);
  if (!page->refill) return page->answer(ToResponse(ProblemOf(status)));
  page->hydration.OnNoPage();
  GoOn(page);
}

}  // namespace fanline::api
