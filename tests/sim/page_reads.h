// Pages of home timelines as the API reads them (timeline/page_run.h): each request to Redis and to
// a shard is carried out at one step and answered at another, in any order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "tests/sim/world.h"
#include "timeline/page_run.h"

namespace fanline::sim {

// What the stores answer a process that reads pages.
struct PageStores {
  World& world;
  uint64_t process = UINT64_MAX;  // as in Primaries; the highest is connected to every primary

  LivePageRead Answer(const ReadLivePage& request) const {
    return {
        0, {}, world.redis.Read(request.reader, request.after, request.limit, request.in_front)};
  }
  FolloweesRead Answer(const ReadFollowees& request) const {
    return From(request, [&](const fakes::FakeMysql& rows, FolloweesRead& reply) {
      reply.authors = rows.Followees(request.reader);
      reply.no_reposts = rows.NoReposts(request.reader);
      reply.mutes = rows.relations.mutes(request.reader);
    });
  }
  // The truth, or no answer.
  MutesRead Answer(const ReadMutes& request) const {
    if (world.primaries.LeadsAstray(process, request.shard)) {
      world.primaries.Renew(process, request.shard);
      return Failed(request);
    }
    return world.mysql.Do(request);
  }
  // The truth, or no answer, as mutes are.
  OriginalsRead Answer(const ReadOriginals& request) const {
    return Proved(request, [&](OriginalsRead& reply) {
      reply.states = world.mysql.Originals(request.originals);
    });
  }
  SourcesFound Answer(const FindSources& request) const {
    return Proved(request,
                  [&](SourcesFound& reply) { reply.originals = world.mysql.Sources(request); });
  }
  LastAtRead Answer(const ReadLastAt& request) const {
    return From(request, [&](const fakes::FakeMysql& rows, LastAtRead& reply) {
      reply.authors = rows.LastAt(request.of);
    });
  }
  ItemsAnswered Answer(const ReadItems& request) const {
    return From(request, [&](const fakes::FakeMysql& rows, ItemsAnswered& reply) {
      reply.read = rows.Items(request.posts, request.span, request.limit);
    });
  }
  // Whoever finds that its server is the primary no more connects to the new one.
  ReadsConfirmed Answer(const ConfirmReads& request) const {
    Primaries& primaries = world.primaries;
    const bool astray = primaries.LeadsAstray(process, request.shard);
    primaries.Renew(process, request.shard);
    if (!astray && request.server == primaries.Number(request.shard)) {
      return {0, request.shard, {}};
    }
    world.Count(Letter::kPageAstray);
    return Failed(request);
  }

  template <class R>
  static typename R::Reply Failed(const R& request) {
    typename R::Reply reply;
    reply.status = AwayStatus();
    if constexpr (requires { reply.shard; }) reply.shard = request.shard;
    return reply;
  }

 private:
  template <class R, class Read>
  typename R::Reply Proved(const R& request, const Read& read) const {
    if (world.primaries.LeadsAstray(process, request.shard)) {
      world.primaries.Renew(process, request.shard);
      return Failed(request);
    }
    typename R::Reply reply;
    reply.shard = request.shard;
    read(reply);
    return reply;
  }
  // A server that is demoted still answers; one that is lost does not.
  template <class R, class Read>
  typename R::Reply From(const R& request, const Read& read) const {
    Primaries& primaries = world.primaries;
    const bool astray = primaries.LeadsAstray(process, request.shard);
    const fakes::FakeMysql* rows = astray ? primaries.Before(request.shard).get() : &world.mysql;
    if (rows == nullptr) {
      primaries.Renew(process, request.shard);
      return Failed(request);
    }
    typename R::Reply reply;
    reply.shard = request.shard;
    reply.server = primaries.Number(request.shard) - (astray ? 1 : 0);
    read(*rows, reply);
    return reply;
  }
};

class PageUnderWay {
 public:
  PageUnderWay(const PageStores& stores, UserId reader, const timeline::PageQuery& query,
               TruthReads::Answers answers, timeline::MutesCache* remembered = nullptr)
      : stores_(stores),
        run_(reader, query, stores.world.Own(reader), stores.world.shards, answers,
             stores.world.options.guards.logic, remembered) {
    calls_.push_back({run_.Begin(), {}});
  }

  // Carries out or answers one request. Some fail; those to a store that is away fail or wait.
  void Step(std::mt19937_64& random) {
    const size_t index = random() % calls_.size();
    Call& call = calls_[index];
    if (!call.reply) {
      std::visit([&](const auto& request) { CarryOut(request, random, call.reply); }, call.request);
      if (!call.reply || random() % 2 == 0) return;
    }
    Deliver(index);
  }
  timeline::Page Finish() {  // at once, without faults
    while (!ended()) {
      Call& call = calls_.front();
      std::visit([&](const auto& request) { call.reply = stores_.Answer(request); }, call.request);
      Deliver(0);
    }
    return run_.Take();
  }

  bool ended() const { return ended_; }
  const Status& status() const { return run_.status(); }
  timeline::Page Take() { return run_.Take(); }

  // Of a live timeline, as it was when it was read.
  bool Above(UnixMs created_at) const { return floor_ && created_at > *floor_; }
  bool failed() const { return failed_; }  // any request
  // It did not answer, or two of its servers did.
  bool Silent(Shard shard) const { return silent_.contains(shard); }

 private:
  using Request = timeline::PageRun::Request;
  using Reply = std::variant<LivePageRead, FolloweesRead, LastAtRead, ItemsAnswered, ReadsConfirmed,
                             MutesRead, OriginalsRead, SourcesFound>;
  struct Call {
    Request request;
    std::optional<Reply> reply;
  };

  template <class R>
  void CarryOut(const R& request, std::mt19937_64& random, std::optional<Reply>& reply) {
    const bool away = Away(request);
    if (away && random() % 4 != 0) return;
    const bool lost = stores_.world.faults && random() % 25 == 0;
    reply = away || lost ? stores_.Failed(request) : stores_.Answer(request);
  }
  // The client goes where its key is while the slot moves.
  bool Away(const ReadLivePage& request) const {
    const Slots& slots = stores_.world.slots;
    const Range range = RangeLayout(kRanges).RangeOf(request.reader);
    const bool left = slots.moving(range) && !slots.Has(range, request.reader);
    return stores_.world.NodeAway((slots.NodeOf(range) + (left ? 1 : 0)) % Slots::kNodes);
  }
  template <class R>
  bool Away(const R& request) const {
    return stores_.world.Away(request.shard);
  }

  void Deliver(size_t index) {
    Reply reply = *std::move(calls_[index].reply);
    calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(index));
    std::visit([this](auto& each) { Take(std::move(each)); }, reply);
  }
  void Take(LivePageRead reply) {
    failed_ |= !reply.status.done();
    // A refill may find another floor, or none.
    floor_.reset();
    if (reply.page.state == TimelineState::kReady) floor_ = reply.page.floor;
    run_.OnLive(std::move(reply));
    if (run_.read().done()) {
      ended_ = true;
    } else {
      Ask(run_.GoOn());
    }
  }
  template <class R>
  void Take(R reply) {
    bool counts = reply.status.done();
    if constexpr (requires { reply.server; }) {
      counts =
          counts && servers_.try_emplace(reply.shard, reply.server).first->second == reply.server;
    }
    if (!counts) silent_.insert(reply.shard);
    failed_ |= !counts;
    Ask(run_.On(std::move(reply)));
  }
  void Ask(const timeline::PageRun::Requests& requests) {
    for (const auto& request : requests) {
      std::visit([this](const auto& each) { calls_.push_back({each, {}}); }, request);
    }
    ended_ = run_.done();
  }

  PageStores stores_;
  timeline::PageRun run_;
  std::vector<Call> calls_;
  std::optional<Floor> floor_;
  std::map<Shard, ServerId> servers_;  // the first that answered
  std::set<Shard> silent_;
  bool failed_ = false, ended_ = false;
};

}  // namespace fanline::sim
