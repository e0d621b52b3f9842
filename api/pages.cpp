#include "api/pages.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "api/operations/bounds.h"

namespace fanline::api {

using timeline::EmptyReason;
using State = PageFacts::State;

// A page that is being served.
struct Pages::Serving {
  std::shared_ptr<const PageCall> call;
  std::string_view route;
  std::shared_ptr<Exchange> stores = {};
  UnixMs asked_at = 0;
  timeline::Hydration hydration;                   // of a page with bodies
  std::optional<timeline::PageRun> run = {};       // of a home timeline: the page or the refill
  std::optional<timeline::OutboxRun> outbox = {};  // of an author's posts, likewise
  timeline::PageQuery query = {};                  // of the page or the refill
  UnixMs read_at = 0;  // when its timeline was read; much later if it awaited a rebuild
  bool refill = false;
  bool can_be_built = false;         // nothing is known to be wrong with Redis
  bool awaited = false;              // a rebuild of its timeline was waited for
  std::optional<PullKey> pull = {};  // its pull, which others may wait for
  timeline::Page page = {};
  PageFacts facts = {};

  // There is nothing to show, and the client is told why.
  bool shows_nothing() const {
    return call->whole() && !refill && page.items.empty() && !page.incomplete;
  }
  PullKey KeyOfPull() const {
    const auto place = [](const std::optional<Position>& at) {
      return at ? std::optional(std::pair(at->created_at, at->post)) : std::nullopt;
    };
    return {call->user, query.limit, place(query.older_than), place(query.newer_than),
            query.reposts};
  }
};

void Pages::Serve(std::shared_ptr<const PageCall> call, std::string_view route, Alive alive,
                  Exchange::Answered answered) {
  if (call->bodies && rules_.columns == nullptr) {
    return answered(
        ToResponse({Code::kBadParameter,
                    "expand: there are no bodies here; leave it out, or start fanline-api "
                    "with --bodies-mysql"}),
        {});
  }
  const timeline::PageQuery query = call->query;
  const auto page = std::make_shared<Serving>(
      Serving{.call = std::move(call), .route = route, .hydration = timeline::Hydration(query)});
  page->asked_at = clock_().unix_ms;
  page->facts.columns = rules_.columns;
  const Duration unsettled = rules_.overlap + MergedPosts::kStale;
  page->facts.settled =
      page->asked_at - std::chrono::ceil<std::chrono::milliseconds>(unsettled).count();
  exchanges_.Begin(
      [&](Exchange& stores) {
        page->stores = stores.shared_from_this();
        Read(page, query);
      },
      {.work = Work::kPulls, .longest_wait = rules_.longest_pull_wait}, std::move(alive),
      [this, weak = std::weak_ptr(page), answered = std::move(answered)](Response response,
                                                                         const Status& failed) {
        if (const Shared ended = weak.lock(); ended && ended->pull) EndPull(ended);
        answered(std::move(response), failed);
      });
}

void Pages::Read(const Shared& page, const timeline::PageQuery& query) {
  page->query = query;
  if (page->call->of == PageCall::Of::kPosts) return ReadPosts(page);
  ReadHome(page, !page->refill);  // a refill begins on a thread that others need
}

void Pages::ReadHome(const Shared& page, bool here) {
  const UserId reader = page->call->user;
  page->run.emplace(reader, page->query, timeline::OwnOf(reader, rules_.own_posts), map_,
                    TruthReads::Answers::kPartly, MutationSwitches(), &mutes_);
  page->stores->Ask(page->run->Begin(), {.longest_wait = rules_.longest_wait, .here = here},
                    [this, page](LivePageRead& reply) { TakeLive(page, std::move(reply)); });
}

// If too many ask, the rebuild finds out whether the timeline is live.
void Pages::TakeLive(const Shared& page, LivePageRead reply) {
  const bool overloaded = reply.status.cause == Cause::kOverloaded;
  page->read_at = clock_().unix_ms;
  page->can_be_built = reply.status.done() || overloaded;
  metrics_.Note(page->route, reply.status);
  page->run->OnLive(std::move(reply));
  MergeOrPull(page);
}

// What is to be merged into a live page is remembered, or waited for together with others who need
// it, or is read for this page alone if it reaches deeper.
void Pages::MergeOrPull(const Shared& page) {
  const auto requests = page->run->Filter();
  if (!requests.empty()) return Filter(page, requests);
  timeline::PageRead& read = page->run->read();
  const auto unknown = merged_.Serve(read, clock_().mono);
  if (read.done()) return TakeHome(page);
  if (!read.live()) return PullOrAwait(page);
  if (!unknown.empty()) return AwaitMerged(page, unknown);
  const bool filters = std::holds_alternative<timeline::NeedOriginals>(read.needed());
  filters ? MergeOrPull(page) : StepRun(page, page->run->GoOn());
}

// Asks whom the reader mutes, for originals, or for more of the timeline instead of what was left
// out.
void Pages::Filter(const Shared& page, const timeline::PageRun::Requests& requests) {
  for (const auto& request : requests) {
    if (const auto* originals = std::get_if<ReadOriginals>(&request)) {
      AskOriginals(page, *originals, [this, page](const OriginalsRead& reply) {
        if (page->run->OnOriginals(reply)) MergeOrPull(page);
      });
    } else if (const auto* mutes = std::get_if<ReadMutes>(&request)) {
      page->stores->Ask(*mutes, {.work = Work::kMerges, .patience = kMergePatience},
                        [this, page](MutesRead& reply) {
                          NoteLack(*page, reply.status);
                          page->run->OnMutes(std::move(reply));
                          MergeOrPull(page);
                        });
    } else {
      page->stores->Ask(std::get<ReadLivePage>(request), {.longest_wait = rules_.longest_wait},
                        [this, page](LivePageRead& reply) {
                          metrics_.Note(page->route, reply.status);
                          page->run->OnLive(std::move(reply));
                          MergeOrPull(page);
                        });
    }
  }
}

// What is not remembered is asked for in an exchange of its own: a reply that comes too late for
// this page serves those after it.
void Pages::AskOriginals(const Shared& page, const ReadOriginals& request,
                         const TakeOriginals& take) {
  const Time asked = clock_().mono;
  const Shard shard = request.shard;
  const std::vector<Original> stale = originals_.Stale(request.originals, asked);
  const auto serve = [this, shard, originals = request.originals, take] {
    take({.shard = shard, .status = {}, .states = originals_.Serve(originals, clock_().mono)});
  };
  if (stale.empty()) return serve();
  const auto then = [this, page, stale, asked, serve](const OriginalsRead& reply) {
    NoteLack(*page, reply.status);
    if (!reply.status.done()) originals_.Missed(stale, asked);
    serve();
  };
  const uint64_t wait =
      page->stores->Await<OriginalsRead>({.shard = shard, .status = {}}, kMergePatience, then);
  const auto ask = [&](Exchange& stores) {
    stores.Ask(ReadOriginals{0, shard, stale},
               [this, stale, asked, wait, &stores](const OriginalsRead& reply) {
                 originals_.Put(stale, reply, asked);
                 exchanges_.Push(OriginalsRead{.id = wait, .status = {}});
                 stores.Answer(Response(), reply.status);
               });
  };
  exchanges_.Begin(ask, {.work = Work::kMerges, .longest_wait = OriginalStates::kStale}, {},
                   [this, route = page->route](const Response&, const Status& failed) {
                     metrics_.Note(route, failed);
                   });
}

void Pages::AwaitMerged(const Shared& page, const std::vector<UserId>& authors) {
  const auto left = std::make_shared<size_t>(authors.size());
  const auto then = [this, page, left](const ItemsAnswered& reply) {
    NoteLack(*page, reply.status);
    if (--*left > 0) return;
    merged_.Serve(page->run->read(), clock_().mono, true);
    if (page->run->read().done()) return TakeHome(page);
    StepRun(page, page->run->GoOn());
  };
  const Time now = clock_().mono;
  for (const UserId author : authors) {
    const uint64_t wait = page->stores->Await<ItemsAnswered>(
        {.shard = map_.ShardOf(author), .status = {}}, kMergePatience, then);
    if (merged_.Await(author, wait, now)) AskForMerged(author, page->route, now);
  }
}

// For all pages that wait for it, and for later ones.
void Pages::AskForMerged(UserId author, std::string_view route, Time asked) {
  const auto ask = [&](Exchange& stores) {
    stores.Ask(MergedPosts::Request(author, map_),
               [this, author, route, asked, &stores](const ItemsAnswered& reply) {
                 for (const uint64_t wait : merged_.Put(author, reply, asked)) {
                   exchanges_.Push(ItemsAnswered{.id = wait, .status = {}});
                 }
                 stores.Answer(Response(), reply.status);
               });
  };
  exchanges_.Begin(
      ask, {.work = Work::kMerges, .longest_wait = MergedPosts::kStale}, {},
      [this, route](const Response&, const Status& failed) { metrics_.Note(route, failed); });
}

// Pulls the page. Waits for its rebuild instead if as many are pulled as may be at once, or if
// others wait for their rebuilds. The rebuild reads the truth for both, which is half the work when
// many readers come back at once.
void Pages::PullOrAwait(const Shared& page) {
  if (Joins(page)) return;
  const bool away = rules_.away && rules_.away(map_.ShardOf(page->call->user));
  // A rebuild needs all shards, so with a slow one it would not end in time either.
  const bool rebuilds =
      page->can_be_built && !page->query.older_than && !page->awaited && !away && !AnySlow();
  if (!rebuilds) return Pull(page);
  bool room = false;
  {
    const std::lock_guard lock(mutex_);
    const Shard own = map_.ShardOf(page->call->user);
    room = static_cast<uint32_t>(std::count_if(pulls_.begin(), pulls_.end(), [&](const auto& pull) {
             return map_.ShardOf(std::get<UserId>(pull.first)) == own;
           })) < rules_.pulls;
  }
  if (room && !rebuilds_.HasBacklog(page->call->user)) return Pull(page);
  page->awaited = true;
  const bool taken = rebuilds_.Await(page->call->user, page->stores->alive(), [this, page] {
    page->stores->Take([this, page] { ReadHome(page, false); });
  });
  if (!taken) Pull(page);
}

bool Pages::Joins(const Shared& page) {
  const std::lock_guard lock(mutex_);
  const auto under_way = pulls_.find(page->KeyOfPull());
  if (under_way == pulls_.end()) return false;
  under_way->second.push_back(page);
  return true;
}

void Pages::Pull(const Shared& page) {
  {
    const std::lock_guard lock(mutex_);
    const PullKey key = page->KeyOfPull();
    if (pulls_.try_emplace(key).second) page->pull = key;
  }
  StepRun(page, page->run->GoOn());
}

void Pages::StepRun(const Shared& page, const timeline::PageRun::Requests& requests) {
  if (page->run->done()) return RunEnded(page);
  for (const auto& request : requests) {
    std::visit(
        [&](const auto& each) {
          using R = std::decay_t<decltype(each)>;
          if constexpr (std::is_same_v<R, ReadOriginals>) {
            AskOriginals(page, each, [this, page](const OriginalsRead& reply) {
              StepRun(page, page->run->On(reply));
            });
          } else if constexpr (std::is_same_v<R, ReadLivePage>) {
            Filter(page, {request});
          } else {
            AskShard(page, each);
          }
        },
        request);
  }
}

template <class R>
void Pages::AskShard(const Shared& page, const R& request) {
  const ReadKind read(request.shard, typeid(request));
  const Asking asking = AskingOf(*page, read);
  page->stores->Ask(request, asking, [this, page, asking, read](auto& reply) {
    if (asking.patience < Duration::max()) NoteLack(*page, reply.status);
    if (asking.work == Work::kPulls) NotePulled(read, asking, reply.status);
    StepRun(page, page->run->On(std::move(reply)));
  });
}

Asking Pages::AskingOf(const Serving& page, const ReadKind& read) {
  if (page.run->merges()) return {.work = Work::kMerges, .patience = kMergePatience};
  Asking asking{.work = Work::kPulls, .longest_wait = rules_.longest_pull_wait};
  if (read.first != map_.ShardOf(page.call->user)) asking.patience = PatienceWith(read);
  return asking;
}

// The whole patience with what was slow is one page's at a time.
Duration Pages::PatienceWith(const ReadKind& read) {
  const Time now = clock_().mono;
  const std::lock_guard lock(mutex_);
  const auto slow = slow_.find(read);
  if (slow == slow_.end()) return kPullPatience;
  if (now < slow->second) return kMergePatience;
  slow->second = now + kPullPatience;
  return kPullPatience;
}

// A read that was waited for a moment only says nothing of the shard.
void Pages::NotePulled(const ReadKind& read, const Asking& asking, const Status& status) {
  const Time now = clock_().mono;
  const std::lock_guard lock(mutex_);
  if (status.done()) {
    slow_.erase(read);
  } else if (status.cause == Cause::kAway && asking.patience == kPullPatience) {
    slow_.try_emplace(read, now + kPullPatience);
  }
}

std::optional<Shard> Pages::AnySlow() {
  const std::lock_guard lock(mutex_);
  return slow_.empty() ? std::nullopt : std::optional(slow_.begin()->first.first);
}

// A store did not do what the page is served without.
void Pages::NoteLack(const Serving& page, const Status& status) const {
  if (!page.stores->left()) metrics_.Note(page.route, status);
}

void Pages::RunEnded(const Shared& page) {
  if (page->run->status().done()) page->page = page->run->Take();
  if (page->pull) EndPull(page);
  if (!page->run->status().done()) return Fail(page, page->run->status());
  page->page.live() ? TakeHome(page) : GotPulled(page);
}

// Serves those who wait for the pull. If it was given up because its client has left, they pull
// again.
void Pages::EndPull(const Shared& page) {
  std::vector<Shared> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting = std::move(pulls_.extract(*std::exchange(page->pull, std::nullopt)).mapped());
  }
  const Status status =
      page->run->done() ? page->run->status() : Status::Never("its pull was not finished");
  const bool again = page->stores->left() && (!status.done() || page->page.incomplete);
  for (const Shared& other : waiting) {
    other->stores->Take(
        [this, other, status, again, found = page->page, settled = page->facts.settled] {
          if (again && !other->stores->left()) return PullOrAwait(other);
          if (!status.done()) return Fail(other, status);
          other->page = found;
          other->facts.settled = std::min(other->facts.settled, settled);
          GotPulled(other);
        });
  }
}

// The truth has nothing to show, so the reason is looked up.
void Pages::GotPulled(const Shared& page) {
  if (!page->page.items.empty() || page->refill) return GotHome(page);
  FindReason(page, {.work = Work::kPulls, .patience = kPullPatience});
}

void Pages::TakeHome(const Shared& page) {
  if (!page->run->done()) page->page = page->run->Take();  // no shard was asked
  if (!page->shows_nothing()) return GotHome(page);
  page->facts.empty_because = reasons_.Find(page->call->user, clock_().mono);
  if (page->facts.empty_because) return GotHome(page);
  FindReason(page, {.work = Work::kMerges, .patience = kMergePatience});
}

// The page is served without the reason if nobody says it in time.
void Pages::FindReason(const Shared& page, const Asking& asking) {
  const UserId reader = page->call->user;
  page->stores->Ask(LookUpUser{0, map_.ShardOf(reader), reader}, asking,
                    [this, page, reader](const UserLookedUp& reply) {
                      NoteLack(*page, reply.status);
                      if (reply.status.done()) {
                        page->facts.empty_because = timeline::WhyNoTimeline(reply.facts);
                        reasons_.Note(reader, *page->facts.empty_because, clock_().mono);
                      }
                      GotHome(page);
                    });
}

void Pages::ReadPosts(const Shared& page) {
  page->outbox.emplace(page->call->user, page->query, map_, TruthReads::Answers::kPartly);
  StepOutbox(page, page->outbox->Begin());
}

void Pages::StepOutbox(const Shared& page, const timeline::OutboxRun::Requests& requests) {
  if (page->outbox->done()) return GotPosts(page);
  for (const auto& request : requests) {
    if (const auto* originals = std::get_if<ReadOriginals>(&request)) {
      AskOriginals(page, *originals, [this, page](const OriginalsRead& reply) {
        StepOutbox(page, page->outbox->On(reply));
      });
    } else {
      page->stores->Ask(std::get<ReadOutbox>(request), [this, page](const OutboxRead& reply) {
        StepOutbox(page, page->outbox->On(reply));
      });
    }
  }
}

void Pages::GotPosts(const Shared& page) {
  if (!page->outbox->status().done()) return Fail(page, page->outbox->status());
  page->page = page->outbox->Take();
  page->facts.incomplete |= page->page.incomplete;
  if (!page->shows_nothing() || page->page.next) return Got(page);
  const UserId author = page->call->user;
  page->stores->Ask(LookUpUser{0, map_.ShardOf(author), author},
                    [this, page](const UserLookedUp& found) {
                      if (!found.status.done()) return Fail(page, found.status);
                      page->facts.empty_because = timeline::WhyNoPosts(found.facts);
                      Got(page);
                    });
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
  page.facts.mutes_unknown |= page.page.mutes_unknown;
  if (page.page.live()) TakeProgress(page);
  if (page.refill) return Got(shared);
  page.facts.state = State::kPulled;
  if (page.page.live()) {
    page.facts.state = State::kLive;
  } else if (page.page.timeline == TimelineState::kBuilding) {
    page.facts.state = State::kBuilding;
  } else if (page.can_be_built && !page.call->query.older_than) {
    const bool known = page.facts.empty_because != EmptyReason::kNoSuchUser;
    // What it lacks is most likely of the shard that is known to be slow.
    const auto slow = page.page.incomplete ? AnySlow() : std::nullopt;
    if (rebuilds_.Offer(page.call->user, known, slow)) page.facts.state = State::kBuilding;
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
  page->stores->Answer(Response{.body = page->call->answer(*page->call, page->page, page->facts)});
}

void Pages::ReadBodies(const Shared& page, std::vector<PostId> posts) {
  if (kept_ > kMostKeptBytes) {
    page->hydration.OnNoBodies();
    return GoOn(page);
  }
  page->stores->Ask(
      fanline::ReadBodies{.posts = std::move(posts)}, {.longest_wait = rules_.longest_bodies_wait},
      [this, page](const BodiesAnswered& reply) {
        metrics_.Note(page->route, reply.status);
        reply.status.done() ? page->hydration.OnBodies(reply.read) : page->hydration.OnNoBodies();
        GoOn(page);
      });
}

// A refill that fails ends the page where it is.
void Pages::Fail(const Shared& page, const Status& status) {
  if (!page->refill) return page->stores->Answer(ToResponse(ProblemOf(status)), status);
  metrics_.Note(page->route, status);
  page->hydration.OnNoPage();
  GoOn(page);
}

}  // namespace fanline::api
