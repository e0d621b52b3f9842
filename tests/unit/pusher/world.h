// A pusher with its stores in memory: two ranges. Its calls are answered when the test says so.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pusher/pusher.h"
#include "tests/fakes/fake_mysql.h"
#include "tests/fakes/fake_redis.h"
#include "tests/fakes/requests.h"

namespace fanline::pusher {

inline constexpr UserId kAnn{1001};  // authors
inline constexpr UserId kBen{1002};
inline constexpr PostId kPost{77};
inline constexpr uint32_t kRanges = 2;
inline constexpr WindowLimits kWindow{6, 26};

// The `nth` user of a range.
inline UserId ReaderIn(Range range, int nth = 0) {
  const RangeLayout layout(kRanges);
  for (uint64_t id = 1;; ++id) {
    if (layout.RangeOf(UserId{id}) == range && nth-- == 0) return UserId{id};
  }
}

struct Seen : Metrics {
  void HintDone(bool, Duration) override { ++done; }
  void HintQuarantined(const std::string& why) override { quarantined.push_back(why); }
  void Written(const BatchWritten& batch) override {
    for (const int8_t result : batch.results) {
      if (result > 0) delivered += static_cast<uint64_t>(result);
      skipped += result == BatchWritten::kNotLive;
    }
    full += batch.full;
  }
  void Full(uint64_t timelines) override { full += timelines; }
  void PassedOver(uint64_t followers) override { passed_over += followers; }
  void WriteFenced() override { ++fenced; }
  void PageRead(uint64_t followers) override { followers_read += followers; }
  void AuthorWeighed() override { ++weighed; }
  void UnitTakenUp(bool went_on) override { ++(went_on ? gone_on : begun_anew); }
  void TakeoverStarted(TakeoverCause cause) override { takeovers.push_back(cause); }
  void TailLost(int32_t, int64_t position, int64_t end) override {
    tails_lost.emplace_back(position, end);
  }
  void RedisLost(Range, RedisLoss loss) override { losses.push_back(loss); }
  void RangeContested(Range, Duration wait) override { contests.push_back(wait); }
  void RangeReady(int64_t hints, uint64_t timelines) override {
    replayed = hints;
    dropped = timelines;
  }
  void FirstDelivery(int size_class, Duration since) override {
    first.emplace_back(size_class, since);
  }
  void LastDelivery(int size_class, Duration since) override {
    last.emplace_back(size_class, since);
  }
  void TracedDelivery(const Traced& post) override { traced.push_back(post); }
  void Holding(const Held& told) override { held = told; }
  void Parked(const std::string& resource) override { ++parked[resource]; }

  int done = 0;
  std::vector<std::string> quarantined;
  std::map<std::string, int> parked;
  uint64_t skipped = 0;
  uint64_t passed_over = 0;
  uint64_t delivered = 0;
  uint64_t full = 0;
  int fenced = 0;
  uint64_t followers_read = 0;
  int gone_on = 0, begun_anew = 0;
  int weighed = 0;
  std::vector<TakeoverCause> takeovers;
  std::vector<std::pair<int64_t, int64_t>> tails_lost;  // position, end
  std::vector<RedisLoss> losses;
  std::vector<Duration> contests;
  int64_t replayed = 0;
  uint64_t dropped = 0;
  std::vector<std::pair<int, Duration>> first, last;
  std::vector<Traced> traced;
  Held held;
};

struct Stores {
  explicit Stores(uint32_t ranges = kRanges) : layout(ranges) {}
  const RangeLayout layout;
  fakes::FakeRedis redis{layout, kWindow};
  fakes::FakeMysql mysql{layout, 1'000};
  uint64_t pushers = 0, crashes = 0;
};

using TruthRequest = std::variant<ReadFollowerPage, ReadSync, ReadMutes>;
using TimelineRequest = std::variant<ClaimRange, ResetRange, SavePosition, TimelineBatch, ApplySync,
                                     SetMutes, DropTimeline, MarkPart>;

struct World : ServesAll<World, ReadPostStates, ReadFollowerPage, ReadSync, ReadMutes, ClaimRange,
                         ReadNews, ResetRange, SavePosition, TimelineBatch, ApplySync, SetMutes,
                         DropTimeline, MarkPart, AcquireRange, RaiseEpoch, SaveStart, SettleRange,
                         AppendDeadLetter, WeighAuthor> {
  explicit World(Limits given = Limits{}, std::shared_ptr<Stores> theirs = nullptr,
                 uint32_t shards = 1, bool own_posts = false)
      : stores(theirs ? std::move(theirs) : std::make_shared<Stores>()),
        pusher(MakePusher(given, shards, own_posts)) {}

  Pusher MakePusher(Limits limits, uint32_t shards = 1, bool own_posts = false) {
    limits.window = kWindow;
    return Pusher(
        {{*this, inbox}, {*this, inbox}, {*this, inbox}, {*this, inbox}, {*this, inbox}, metrics},
        {stores->layout, 7, ++stores->pushers, {}, ShardMap::Even(shards), own_posts}, limits);
  }

  // ---- ports: kept until answered --------------------------------------------------------------
  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    if constexpr (std::is_constructible_v<TruthRequest, R>) {
      truth_calls.push_back(std::move(request));
    } else if constexpr (std::is_constructible_v<TimelineRequest, R>) {
      timeline_calls.push_back(std::move(request));
    } else {
      to(owners_away ? RangeOwned{.id = request.id, .status = Status::Later("mysql_0", "away")}
                     : mysql.Do(request));
    }
  }
  // Answered with the next step, whatever becomes of the followers.
  void Serve(ReadPostStates request, ReplyTo<PostStates>) {
    state_calls.push_back(std::move(request));
  }
  // Answered with the next step, as long as nobody holds them.
  void Serve(ReadNews request, ReplyTo<NewsRead>) { news_calls.push_back(std::move(request)); }
  void AnswerNews() {
    for (const auto& call : std::exchange(news_calls, {})) inbox.emplace_back(redis.Do(call));
  }
  void Serve(WeighAuthor request, ReplyTo<AuthorWeighed> to) {
    if (weights_answered) to(mysql.Do(request));
    weighed.push_back(std::move(request));
  }
  void Serve(AppendDeadLetter request, ReplyTo<DeadLetterAppended> to) {
    to({request.id, of_letters});
    letters.push_back(std::move(request.letter));
  }

  void AnswerTruth() {
    auto calls = std::exchange(truth_calls, {});
    for (const auto& call : calls) {
      std::visit([this](const auto& asked) { inbox.emplace_back(mysql.Do(asked)); }, call);
    }
  }
  void AnswerTimelines() {
    auto calls = std::exchange(timeline_calls, {});
    for (const auto& call : calls) {
      std::visit([this](const auto& asked) { inbox.emplace_back(redis.Do(asked)); }, call);
    }
  }

  std::vector<WeighAuthor> weighed;
  bool weights_answered = true;

  // ---- driving ---------------------------------------------------------------------------------
  void Step() {
    std::vector<Input> inputs;
    for (const auto& call : std::exchange(state_calls, {})) inputs.emplace_back(mysql.Do(call));
    if (!hold_news) AnswerNews();
    for (Input& input : std::exchange(inbox, {})) inputs.push_back(std::move(input));
    const Progress progress = pusher.Step(inputs, now);
    next_timer = progress.next_timer;
    for (const auto& at : progress.orders.seek) sought.push_back(at);
    for (const auto& at : progress.orders.commit) committed.push_back(at);
    for (auto range : progress.orders.pause) paused.push_back(range);
    for (auto range : progress.orders.resume) resumed.push_back(range);
  }
  void RunUntilIdle() {
    do {
      Step();
      AnswerTruth();
      AnswerTimelines();
    } while (!inbox.empty() || !state_calls.empty() || (!news_calls.empty() && !hold_news));
    Step();
  }
  void Pass(Duration time) {
    now.mono += time;
    now.unix_ms += std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  }
  void RunFor(Duration time) {
    Pass(time);
    RunUntilIdle();
  }
  // The one call of Redis that is under way: it gets no answer but the test's.
  template <class R>
  R TakeCall() {
    EXPECT_EQ(timeline_calls.size(), 1u);
    const R call = std::get<R>(timeline_calls.at(0));
    timeline_calls.clear();
    return call;
  }
  template <class R>
  void FailCall(const Status& status) {
    typename R::Reply reply;
    reply.id = TakeCall<R>().id;
    reply.status = status;
    inbox.emplace_back(std::move(reply));
  }
  // The one page of followers that is under way cannot be read.
  void FailPage(const Status& status) {
    EXPECT_EQ(truth_calls.size(), 1u);
    FollowerPage failed{.id = std::get<ReadFollowerPage>(truth_calls.at(0)).id, .status = status};
    truth_calls.clear();
    inbox.emplace_back(std::move(failed));
  }
  void Assign(Range range, int64_t start = 0, int64_t low = 0,
              int64_t end = std::numeric_limits<int64_t>::max()) {
    inbox.emplace_back(PartitionAssigned{range, start, low, end});
    RunUntilIdle();
  }
  void AssignAll() {
    Assign(0);
    Assign(1);
  }
  void Revoke(Range range) {
    inbox.emplace_back(PartitionRevoked{range});
    RunUntilIdle();
  }
  void Give(Range range, const Hint& hint, Headers headers = {}) {
    GiveBytes(range, EncodeHint(hint), std::move(headers));
  }
  void Push(Range range, const Hint& hint) {
    Give(range, hint);
    RunUntilIdle();
  }
  void GiveBytes(Range range, std::string bytes, Headers headers = {}) {
    inbox.emplace_back(Record{.topic = "fanout-tasks",
                              .partition = range,
                              .offset = next_offset[range]++,
                              .timestamp = now.unix_ms,
                              .value = std::move(bytes),
                              .headers = std::move(headers)});
  }

  // ---- other pushers ---------------------------------------------------------------------------
  // Another pusher takes the range, perhaps tries a hint alone, and crashes. Its token is the id.
  RangeOwned Crash(Range range, int64_t tried = -1) {
    const uint64_t token = ++stores->crashes;
    const RangeOwned owned = mysql.Do(AcquireRange{token, range, token});
    if (tried >= 0) mysql.Do(SaveStart{1, range, owned.epoch, tried, token});
    return owned;
  }
  // The number that the next owner would find.
  uint32_t Crashes(Range range) { return mysql.Do(SettleRange{1, range}).crashes; }
  bool Suspected(Range range, int64_t hint) {
    return mysql.Do(SaveStart{1, range, 0, hint}).suspected;
  }
  // Range 0 had an owner, who left this position.
  void Owned(AppliedPosition position,
             ResetRange::Timelines timelines = ResetRange::Timelines::kLeave) {
    redis.Do(ClaimRange{1, 0, 1});
    redis.Do(ResetRange{2, 0, 1, timelines, std::move(position)});
    mysql.Do(RaiseEpoch{1, 0, 1});
  }

  // ---- the world's facts -----------------------------------------------------------------------
  void Follow(UserId reader, UserId author, bool live = true) {
    const uint64_t version = mysql.WriteForward(reader, author, live);
    mysql.ApplyReverse(reader, author, version, live);
  }
  // Both rows of an edge that is there.
  void Choose(UserId reader, UserId author, Delivery delivery) {
    const EdgeChange change{
        .src = reader, .dst = author, .live = true, .unix_us = ++tick, .delivery = delivery};
    const auto changed = mysql.relations.Do(ChangeEdge{0, change});
    mysql.relations.Do(ApplyEdges{0, 0, {changed.forward.edge}});
  }
  void Publish(UserId author, PostId post, UnixMs at, Original repost_of = {}) {
    mysql.Do(ApplyEvents{1, 0, {{EventKind::kPublished, post, author, at, 0, repost_of}}});
  }
  void Delete(UserId author, PostId post) {
    mysql.Do(ApplyEvents{1, 0, {{EventKind::kDeleted, post, author, 0, 0}}});
  }
  void MakeLive(UserId reader, std::vector<Item> items = {}, Floor floor = kNoFloor) {
    redis.Begin(reader, "t");
    redis.Finish(reader, "t", items, floor);
  }
  bool IsLive(UserId reader) const { return redis.timelines().contains(reader); }
  std::vector<PostId> Items(UserId reader) {
    std::vector<PostId> posts;
    for (const Item& item : redis.Read(reader, std::nullopt, 1'000).items)
      posts.push_back(item.post);
    return posts;
  }

  const std::shared_ptr<Stores> stores;  // of one pusher, or of several
  fakes::FakeRedis& redis = stores->redis;
  fakes::FakeMysql& mysql = stores->mysql;
  Seen metrics;
  Now now{Time(std::chrono::seconds(100)), 1'000'000};
  fakes::Inbox<Input> inbox;
  std::vector<ReadPostStates> state_calls;
  std::vector<ReadNews> news_calls;
  bool hold_news = false;
  std::vector<TruthRequest> truth_calls;
  std::vector<TimelineRequest> timeline_calls;
  std::vector<DeadLetter> letters;
  Status of_letters;  // answered to each
  bool owners_away = false;
  std::vector<ConsumerOrders::At> sought, committed;
  std::vector<int32_t> paused, resumed;
  std::optional<Time> next_timer;
  std::map<Range, int64_t> next_offset;
  uint64_t tick = 0;
  Pusher pusher;
};

// Bob, of range 0, follows Ann and is live.
struct BobsWorld : World {
  explicit BobsWorld(const Limits& limits = {}, uint32_t shards = 1)
      : World(limits, nullptr, shards) {
    Follow(bob, kAnn);
    AssignAll();
    MakeLive(bob);
  }
  void Post() {  // Ann's post, with its hint
    Publish(kAnn, kPost, 1'000);
    Give(0, Hint::OfPost(kAnn, kPost));
  }
  const UserId bob = ReaderIn(0);
};

}  // namespace fanline::pusher
