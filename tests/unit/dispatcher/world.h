// A dispatcher whose shards and log are in memory.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatcher/dispatcher.h"
#include "tests/fakes/fake_mysql.h"
#include "tests/fakes/requests.h"

namespace fanline::dispatcher {

inline constexpr UserId kAnn{1001};
inline constexpr PostId kPost{77};
inline constexpr uint32_t kRanges = 4;

// The contents of all ranges' logs about one post.
struct Logged {
  PostId post{};
  std::vector<std::pair<Range, Hint>> hints;
  Headers headers;
};

// A dispatcher whose calls are answered when the test says so, with two shards or more. It has
// partition 0.
struct World : ServesAll<World, ApplyEvents, ReadShown, AnnounceAuthor, SwitchAuthor, AppendHints,
                         AppendDeadLetter> {
  explicit World(Limits limits = Limits{}, uint32_t ranges = kRanges, uint32_t shards = 2,
                 bool own_posts = false)
      : dispatcher({{*this, inbox}, {*this, inbox}, {*this, inbox}, metrics},
                   {RangeLayout(ranges), ShardMap::Even(shards), 1, own_posts}, limits) {
    Assign();
  }

  void Serve(ApplyEvents request, ReplyTo<EventsApplied>) {
    if (!reads_followers) request.most_followers = 0;
    transactions.push_back(std::move(request));
  }
  void Serve(ReadShown request, ReplyTo<ShownRead>) {
    if (!hold_originals) inbox.emplace_back(mysql.Do(request));
    originals.push_back(std::move(request));
  }
  void Serve(AnnounceAuthor request, ReplyTo<AuthorAnnounced>) {
    announced.push_back(request.author);
    inbox.emplace_back(mysql.Do(request));
  }
  void Serve(SwitchAuthor request, ReplyTo<AuthorSwitched>) {
    inbox.emplace_back(mysql.Do(request));
    switches.push_back(std::move(request));
  }
  void Serve(AppendHints request, ReplyTo<HintsAppended>) { appends.push_back(std::move(request)); }
  void Serve(AppendDeadLetter request, ReplyTo<DeadLetterAppended>) {
    dead_letters.push_back(std::move(request));
  }

  void Store() {
    for (const auto& request : std::exchange(transactions, {})) {
      stored.push_back(request.events.size());
      inbox.emplace_back(mysql.Do(request));
    }
  }
  void Acknowledge() {
    for (auto& request : std::exchange(appends, {})) {
      inbox.emplace_back(HintsAppended{request.id, {}});
      for (size_t hint = 0; hint < request.hints.size(); ++hint) Log(request, hint);
    }
    for (auto& request : std::exchange(dead_letters, {})) {
      inbox.emplace_back(DeadLetterAppended{request.id, {}});
      letters.push_back(std::move(request.letter));
    }
  }
  // The brokers acknowledge none of the appends under way.
  void Refuse(const Status& status) {
    for (const auto& request : std::exchange(appends, {})) {
      inbox.emplace_back(HintsAppended::Of(request.id, status, request.hints.size()));
    }
  }
  void Log(const AppendHints& request, size_t hint) {
    const auto& [range, what] = request.hints[hint];
    const PostId post = std::get<Hint::Post>(what.what).post;
    auto found = std::find_if(log.begin(), log.end(),
                              [post](const Logged& each) { return each.post == post; });
    if (found == log.end()) found = log.insert(found, Logged{post, {}, {}});
    found->hints.emplace_back(range, what);
    if (request.headers[hint]) found->headers = *request.headers[hint];
  }
  // The ranges of the hints under way, in the order of the requests.
  std::vector<Range> Appending() const {
    std::vector<Range> ranges;
    for (const auto& request : appends) {
      for (const auto& [range, hint] : request.hints) ranges.push_back(range);
    }
    return ranges;
  }
  void Step() {
    std::vector<Input> inputs = std::exchange(inbox, {});
    const Progress progress = dispatcher.Step(inputs, now);
    next_timer = progress.next_timer;
    for (const auto& at : progress.orders.seek) sought = at.offset;
    for (const auto& at : progress.orders.commit) committed = at.offset;
    paused += progress.orders.pause.size();
    resumed += progress.orders.resume.size();
  }
  void RunUntilIdle() {
    do {
      Step();
      Store();
      Acknowledge();
    } while (!inbox.empty());
    Pass(std::chrono::seconds(1));
    Step();
  }
  void Pass(Duration time) { now.mono += time; }
  // Takes what came, and goes on once it is stored.
  void TakeAndStore() {
    Step();
    Store();
    Step();
  }
  void Assign(int32_t partition = 0) {
    inbox.emplace_back(PartitionAssigned{partition, 0, 0, 1'000'000});
    Step();
  }
  void Give(const FeedEvent& event, Headers headers = {}) {
    GiveBytes(EncodeEventJson(event), std::move(headers));
  }
  void Dispatch(const FeedEvent& event, Headers headers = {}) {
    Give(event, std::move(headers));
    RunUntilIdle();
  }
  void GiveBytes(std::string bytes, Headers headers = {}) {
    inbox.emplace_back(Record{.topic = "feed-events",
                              .offset = next_offset++,
                              .timestamp = now.unix_ms,
                              .value = std::move(bytes),
                              .headers = std::move(headers)});
  }

  struct Told : Metrics {
    void EventRejected(const std::string&, const std::string& trace_id) override {
      rejected.push_back(trace_id);
    }
    void TracedEventDone(const FeedEvent& event, const std::string& trace_id, Duration) override {
      traced.emplace_back(event.post, trace_id);
    }
    void OriginalsUnread(uint64_t reposts) override { unread += reposts; }
    uint64_t unread = 0;
    std::vector<std::string> rejected;
    std::vector<std::pair<PostId, std::string>> traced;
  };

  fakes::FakeMysql mysql{RangeLayout(kRanges), 100};
  Told metrics;
  Now now{Time(std::chrono::seconds(100)), 1'700'000'000'000};
  fakes::Inbox<Input> inbox;
  std::vector<ApplyEvents> transactions;
  std::vector<ReadShown> originals;  // asked for; answered with the next step
  bool hold_originals = false;       // not answered
  std::vector<AppendHints> appends;
  std::vector<Logged> log;  // posts, in the order of their first hints
  std::vector<AppendDeadLetter> dead_letters;
  std::vector<UserId> announced;
  std::vector<SwitchAuthor> switches;
  std::vector<DeadLetter> letters;
  std::vector<size_t> stored;
  bool reads_followers = false;  // else any range may hold one, as if each author had many
  int64_t next_offset = 0;
  int64_t sought = -1;
  int64_t committed = -1;
  size_t paused = 0, resumed = 0;
  std::optional<Time> next_timer;
  Dispatcher dispatcher;
};

// So many events are under way at most.
inline Limits Open(uint32_t events) { return {.events_open = events}; }

inline FeedEvent Published(PostId post = kPost, UserId author = kAnn) {
  return {EventKind::kPublished, post, author, 1'700'000'000'000, 0};
}

inline UserId AuthorOn(Shard shard, uint32_t shards = 2) {
  for (uint64_t id = 1;; ++id) {
    if (ShardMap::Even(shards).ShardOf(UserId{id}) == shard) return UserId{id};
  }
}

}  // namespace fanline::dispatcher
