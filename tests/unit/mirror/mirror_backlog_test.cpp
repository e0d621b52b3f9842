// A mirror with hours of changes behind it, over modelled stores that take time: twelve million
// pending rows of a shard that was away, and six hundred new changes a second.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "mirror/mirror.h"
#include "tests/fakes/requests.h"

namespace fanline::mirror {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kBacklog = 12'000'000;
constexpr uint64_t kApplierPace = 20'000;  // edges a second of one reverse shard
constexpr int kNewEachMs = 600;            // per thousand milliseconds, half for each shard

// log1 of shard 0 and the reverse rows of shards 0 and 1. Rows 1 .. kBacklog lead to shard 1.
struct Fleet : ServesAll<Fleet, ReadPending, AskPending, MarkDone, PurgeDone, AppendRelations,
                         ApplyEdges, AppendHints, ChangeEdge, AppendDeadLetter> {
  explicit Fleet(uint64_t rows) : backlog(rows), done(rows + 1, false) {
    for (uint64_t id = 1; authors[0].size() < 500 || authors[1].size() < 500; ++id) {
      auto& of_shard = authors[shards.ShardOf(UserId{id})];
      if (of_shard.size() < 500) of_shard.push_back(UserId{id});
    }
    mirror = std::make_unique<Mirror>(
        Mirror::Ports{{*this, inbox},
                      {bells, inbox},
                      {bells, inbox},
                      {{*this, inbox},
                       {*this, inbox},
                       {*this, inbox},
                       {*this, inbox},
                       {*this, inbox},
                       metrics}},
        Mirror::Setup{{RangeLayout{4}, shards, 1, {}}, 2, milliseconds(100)}, limits);
    inbox.Push(PartitionAssigned{0, 0, 0});
  }

  // ---- rows -----------------------------------------------------------------------------------
  Shard LeadsTo(uint64_t id) const { return id <= backlog ? 1 : static_cast<Shard>(id % 2); }
  LoggedChange RowOf(uint64_t id) const {
    const auto& of_shard = authors[LeadsTo(id)];
    return {.id = id,
            .edge = {UserId{1'000'000'000 + id}, of_shard[id % of_shard.size()], id, true, 1}};
  }
  void Change() {
    done.push_back(false);
    made[done.size() - 1] = now.mono;
  }

  void Serve(const ReadPending& request, ReplyTo<PendingRead> to) {
    PendingRead reply{.id = request.id};
    if (request.after == 0) reply.newest = done.size() - 1;
    while (lowest < done.size() && done[lowest]) ++lowest;
    for (uint64_t id = std::max(lowest, request.after + 1); id < done.size(); ++id) {
      if (reply.changes.size() >= request.limit) break;
      if (!done[id]) reply.changes.push_back(RowOf(id));
    }
    rows_read += reply.changes.size();
    Later(milliseconds(1) + microseconds(5) * reply.changes.size(), to, reply);
  }
  void Serve(const AskPending& request, ReplyTo<PendingAsked> to) {
    PendingAsked reply{request.id, {}, {}};
    for (const uint64_t id : request.log_ids) {
      if (!done[id]) reply.pending.push_back(RowOf(id));
    }
    Later(milliseconds(1) + microseconds(5) * request.log_ids.size(), to, reply);
  }
  void Serve(const MarkDone& request, ReplyTo<MarkedDone> to) {
    for (const LogRow& row : request.rows) {
      done[row.id] = true;
      ++finished;
      const auto is_new = made.find(row.id);
      if (is_new == made.end()) continue;
      Duration& longest = slowest[LeadsTo(row.id)];
      longest = std::max<Duration>(longest, now.mono - is_new->second);
      made.erase(is_new);
    }
    Later(milliseconds(2) + microseconds(5) * request.rows.size(), to, MarkedDone{request.id, {}});
  }
  void Serve(const PurgeDone& request, ReplyTo<PurgedDone> to) {
    Later(milliseconds(5), to, PurgedDone{request.id, {}, 0});
  }

  // Two transactions at a time.
  void Serve(const ApplyEdges& request, ReplyTo<EdgesApplied> to) {
    EdgesApplied reply{request.id, {}, {}, 0};
    if (request.shard == 1 && away) {
      reply.status = Status::Later("mysql_1", "away");
      return Later(seconds(2), to, reply);
    }
    for (const Edge& edge : request.edges) reply.applied.push_back({edge.ver, true});
    if (request.shard == 1) applied += request.edges.size();
    Time& free = *std::min_element(workers[request.shard], workers[request.shard] + 2);
    free = std::max(free, now.mono) + microseconds(2'000'000 / kApplierPace) * request.edges.size();
    Later(free - now.mono, to, reply);
  }

  // ---- logs -----------------------------------------------------------------------------------
  void Serve(const AppendRelations& request, ReplyTo<RelationsAppended> to) {
    Later(milliseconds(8), to, RelationsAppended{request.id, {}});
  }
  void Serve(const AppendHints& request, ReplyTo<HintsAppended> to) {
    Later(milliseconds(8), to, HintsAppended{request.id, {}});
  }
  void Serve(const ChangeEdge&, ReplyTo<EdgeChanged>) { FAIL() << "no friendship"; }
  void Serve(const AppendDeadLetter&, ReplyTo<DeadLetterAppended>) { FAIL() << "no letter"; }

  // ---- time -----------------------------------------------------------------------------------
  template <typename Reply>
  void Later(Duration time, ReplyTo<Reply>, Reply reply) {
    replies.emplace(now.mono + time, std::move(reply));
  }
  void Run(Duration time) {
    for (const Time until = now.mono + time; now.mono < until;) {
      now.mono += milliseconds(1);
      now.unix_ms += 1;
      for (owed += kNewEachMs; owed >= 1'000; owed -= 1'000) Change();
      while (!replies.empty() && replies.begin()->first <= now.mono) {
        inbox.Push(std::move(replies.extract(replies.begin()).mapped()));
      }
      const auto inputs = std::exchange(inbox, {});
      (void)mirror->Step(inputs, now);
    }
  }

  const uint64_t backlog;
  const Limits limits;
  const ShardMap shards = ShardMap::Even(2);
  std::vector<UserId> authors[2];
  std::vector<bool> done;  // by id
  uint64_t lowest = 1;
  std::map<uint64_t, Time> made;  // new changes that are not done
  Duration slowest[2]{};          // new changes, by reverse shard
  uint64_t finished = 0, applied = 0, rows_read = 0;
  bool away = false;
  Time workers[2][2]{};
  int owed = 0;
  Now now{Time(seconds(100)), 1'700'000'000'000};
  Metrics metrics;
  std::multimap<Time, MirrorInput> replies;
  fakes::Inbox<MirrorInput> inbox;
  Bells bells;
  std::unique_ptr<Mirror> mirror;
};

TEST(MirrorBacklog, TwelveMillionRowsDrainAtTheAppliersPaceWhileNewChangesPass) {
  Fleet fleet(kBacklog);
  fleet.Run(seconds(3));
  fleet.applied = 0;
  fleet.slowest[0] = fleet.slowest[1] = {};
  fleet.Run(seconds(10));
  EXPECT_GE(fleet.applied, kApplierPace * 10 * 9 / 10);
  EXPECT_LE(fleet.slowest[0], milliseconds(500));
  EXPECT_LE(fleet.slowest[1], seconds(2)) << "behind what is in memory, not behind all of it";
}

TEST(MirrorBacklog, ItDrainsAtTheSamePaceWhateverIsLeft) {
  Fleet fleet(400'000);
  fleet.Run(seconds(3));
  fleet.applied = 0;
  fleet.Run(seconds(10));
  EXPECT_GE(fleet.applied, kApplierPace * 10 * 9 / 10);
  fleet.Run(seconds(15));
  EXPECT_LE(fleet.made.size(), 300u) << "all that is left is new";
}

TEST(MirrorBacklog, WhileTheShardIsAwayTheOthersChangesPassAndLittleIsRead) {
  Fleet fleet(3'000'000);
  fleet.away = true;
  fleet.Run(seconds(40));  // all of it has been looked through once
  fleet.rows_read = 0;
  fleet.slowest[0] = {};
  fleet.Run(seconds(60));
  EXPECT_LE(fleet.slowest[0], milliseconds(500));
  EXPECT_LE(fleet.rows_read, 60u * 15'000) << "the last half minute once a second";
  fleet.away = false;
  fleet.Run(seconds(15));
  fleet.applied = 0;
  fleet.Run(seconds(5));
  EXPECT_GE(fleet.applied, kApplierPace * 5 * 9 / 10);
}

}  // namespace
}  // namespace fanline::mirror
