// Authors with few followers beside one with a million: a real pusher between a shard of MariaDB
// and a node of Redis that take their time, under a clock of events.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>

#include "pusher/pusher.h"
#include "tests/fakes/fake_mysql.h"
#include "tests/fakes/fake_redis.h"
#include "tests/fakes/requests.h"
#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kRangesOfAll = 16;
constexpr UserId kCelebrity{1};
constexpr uint64_t kMostCelebrities = 100;  // from the first on, all with the same followers
constexpr uint64_t kFollowers = 1'000'000;
constexpr uint64_t kFewFollowers = 200;
constexpr uint64_t kFirstSmall = 1'000;  // the next authors follow; each publishes once
constexpr Time kBegin{seconds(100)};

bool IsCelebrity(UserId author) { return Raw(author) <= kMostCelebrities; }

// What the stores take, about as on one core each.
constexpr auto kStatements = microseconds(300);  // for what a thread reads together
constexpr auto kRequest = microseconds(20);      // of both kinds
constexpr auto kRow = microseconds(1);
constexpr size_t kReadTogether = 512;
constexpr int kTruthThreads = 2;
constexpr auto kCall = microseconds(60);  // of a batch, whatever it holds
constexpr double kWriteUs = 1e6 / 150'000;

// The million, by range, in the order of pages.
const std::vector<std::vector<UserId>>& Followers() {
  static const auto kAll = [] {
    const RangeLayout layout(kRangesOfAll);
    std::vector<std::vector<UserId>> all(kRangesOfAll);
    for (uint64_t id = 1'000'000; id < 1'000'000 + kFollowers; ++id) {
      all[static_cast<size_t>(layout.RangeOf(UserId{id}))].push_back(UserId{id});
    }
    for (auto& range : all) {
      std::sort(range.begin(), range.end(), [](UserId a, UserId b) {
        return std::pair(BucketOf(a), a) < std::pair(BucketOf(b), b);
      });
    }
    return all;
  }();
  return kAll;
}

struct Fleet : ServesAll<Fleet, ReadPostStates, ReadFollowerPage, ReadSync, ReadMutes, ClaimRange,
                         ResetRange, SavePosition, ReadNews, TimelineBatch, ApplySync, SetMutes,
                         DropTimeline, MarkPart, AcquireRange, RaiseEpoch, SaveStart, SettleRange,
                         AppendDeadLetter, WeighAuthor> {
  Fleet()
      : pusher(
            {{*this, inbox}, {*this, inbox}, {*this, inbox}, {*this, inbox}, {*this, inbox}, seen},
            {layout, 7, 1, {}, ShardMap::Even(1), false}, {}) {
    for (Range range = 0; range < static_cast<Range>(kRangesOfAll); ++range) {
      inbox.emplace_back(PartitionAssigned{range, 0, 0});
    }
    Run(kBegin);
  }

  // ---- the stores ------------------------------------------------------------------------------
  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    if constexpr (requires { redis.Do(request); }) {
      to(redis.Do(request));
    } else if constexpr (requires { mysql.Do(request); }) {
      to(mysql.Do(request));
    }
  }
  void Serve(const ReadPostStates& request, ReplyTo<PostStates> to) {
    asked.push_back({kRequest / 2, [to, states = StatesOf(request)] { to(states); }});
    ReadTruth();
  }
  void Serve(const ReadFollowerPage& request, ReplyTo<FollowerPage> to) {
    FollowerPage page = PageOf(request);
    const Duration takes = kRequest / 2 + kRow * page.followers.size();
    asked.push_back({takes, [to, page = std::move(page)] { to(page); }});
    ReadTruth();
  }
  // The million are live.
  void Serve(const ReadNews& request, ReplyTo<NewsRead> to) {
    NewsRead news = redis.Do(request);
    const auto& all = Followers()[static_cast<size_t>(request.range)];
    news.last = news.readers = all.size();
    for (uint64_t i = request.heard; i < all.size() && i < request.heard + request.limit; ++i) {
      news.announced.push_back({all[i], i + 1});
    }
    to(std::move(news));
  }
  void Serve(TimelineBatch batch, ReplyTo<BatchWritten> to) {
    const auto takes =
        kCall +
        microseconds(static_cast<int64_t>(kWriteUs * static_cast<double>(batch.writes.size())));
    node_free = std::max(node_free, now.mono) + takes;
    At(node_free, [this, to, batch = std::move(batch)] {
      Count(batch);
      BatchWritten written{.id = batch.id};
      written.results.assign(batch.writes.size(), 1);
      to(std::move(written));
    });
  }

  void ReadTruth() {
    if (asked.empty() || threads_busy == kTruthThreads) return;
    ++threads_busy;
    // What comes in the same moment is there when the thread looks.
    At(now.mono, [this] {
      std::vector<std::function<void()>> answers;
      Duration takes = kStatements;
      while (!asked.empty() && answers.size() < kReadTogether) {
        takes += asked.front().takes;
        answers.push_back(std::move(asked.front().answer));
        asked.pop_front();
      }
      At(now.mono + takes, [this, answers = std::move(answers)] {
        for (const auto& answer : answers) answer();
        --threads_busy;
        ReadTruth();
      });
    });
  }

  static PostStates StatesOf(const ReadPostStates& request) {
    PostStates states{.id = request.id};
    for (const auto& [author, post] : request.posts) {
      states.posts.emplace_back().created_at = static_cast<UnixMs>(Raw(post));
    }
    return states;
  }
  static FollowerPage PageOf(const ReadFollowerPage& request) {
    FollowerPage page{.id = request.id};
    const auto& all = Followers()[static_cast<size_t>(request.range)];
    if (!IsCelebrity(request.author)) {
      for (uint64_t i = 0; i < FewIn(request.range); ++i) {
        page.followers.push_back(all[(Raw(request.author) * 131 + i * 977) % all.size()]);
      }
      return page;
    }
    auto at = all.begin();
    if (request.after) at = std::upper_bound(at, all.end(), *request.after, Before);
    const auto end = all.end() - at > request.limit ? at + request.limit : all.end();
    page.followers.assign(at, end);
    if (end != all.end()) page.next = FollowerCursor{BucketOf(end[-1]), end[-1]};
    return page;
  }
  static bool Before(const FollowerCursor& cursor, UserId reader) {
    return std::pair(cursor.bucket, cursor.reader) < std::pair(BucketOf(reader), reader);
  }
  // Of 200 followers: 12 or 13 in each range.
  static uint64_t FewIn(Range range) {
    const auto at = static_cast<uint64_t>(range);
    return kFewFollowers * (at + 1) / kRangesOfAll - kFewFollowers * at / kRangesOfAll;
  }

  void Count(const TimelineBatch& batch) {
    uint32_t add = 0;
    for (const auto& write : batch.writes) {
      for (; add < write.adds_end; ++add) {
        const UserId author{Raw(batch.adds[add].post)};
        of_celebrities += IsCelebrity(author);
        if (++delivered[author] == (IsCelebrity(author) ? kFollowers : kFewFollowers)) {
          last_delivery[author] = now.mono;
        }
      }
    }
  }

  // ---- the clock -------------------------------------------------------------------------------
  void At(Time time, std::function<void()> what) { events.emplace(time, std::move(what)); }

  void Run(Time until) {
    for (;;) {
      std::vector<Input> inputs = std::exchange(inbox, {});
      const Progress progress = pusher.Step(inputs, now);
      if (!inbox.empty()) continue;
      Time next = until;
      if (!events.empty()) next = std::min(next, events.begin()->first);
      if (progress.next_timer) next = std::min(next, *progress.next_timer);
      if (next >= until) break;
      Advance(std::max(next, now.mono));
      while (!events.empty() && events.begin()->first <= now.mono) {
        events.extract(events.begin()).mapped()();
      }
    }
    Advance(until);
  }
  void Advance(Time to) {
    now.mono = to;
    now.unix_ms = std::chrono::duration_cast<milliseconds>(to.time_since_epoch()).count();
  }

  void Publish(Time time, UserId author) {
    At(time, [this, author] {
      published[author] = now.mono;
      for (Range range = 0; range < static_cast<Range>(kRangesOfAll); ++range) {
        inbox.emplace_back(Record{.topic = "fanout-tasks",
                                  .partition = range,
                                  .offset = next_offset[range]++,
                                  .timestamp = now.unix_ms,
                                  .value = EncodeHint(Hint::OfPost(author, PostId{Raw(author)}))});
      }
    });
  }

  const RangeLayout layout{kRangesOfAll};
  fakes::FakeRedis redis{layout, kWindow};
  fakes::FakeMysql mysql{layout, 1'000};
  Seen seen;
  Now now{Time(seconds(99)), 99'000};
  fakes::Inbox<Input> inbox;
  std::multimap<Time, std::function<void()>> events;
  struct Read {
    Duration takes;
    std::function<void()> answer;
  };
  std::deque<Read> asked;
  int threads_busy = 0;
  Time node_free{};
  std::map<Range, int64_t> next_offset;
  std::map<UserId, Time> published, last_delivery;
  std::unordered_map<UserId, uint64_t> delivered;
  uint64_t of_celebrities = 0;  // deliveries
  Pusher pusher;
};

double Seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

struct Found {
  double p99 = 0;         // seconds from publish to last delivery, of authors with 200 followers
  double per_second = 0;  // followers of the celebrity, from publish to last delivery
  uint64_t of_celebrities = 0;  // deliveries
};

// So many posts a second of distinct authors with 200 followers, while a post of each of so many
// celebrities is fanned out.
Found Measure(double posts_per_second, uint64_t celebrities) {
  const Duration lasts = seconds(7);
  Fleet fleet;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<> moment(0, Seconds(lasts));
  const auto posts = static_cast<uint64_t>(posts_per_second * Seconds(lasts));
  for (uint64_t post = 0; post < posts; ++post) {
    const auto after = std::chrono::duration<double>(moment(random));
    fleet.Publish(kBegin + std::chrono::duration_cast<Duration>(after), UserId{kFirstSmall + post});
  }
  for (uint64_t id = 1; id <= celebrities; ++id) fleet.Publish(kBegin, UserId{id});
  fleet.Run(kBegin + lasts + seconds(celebrities > 1 ? 3 : 30));  // a hundred take minutes

  Found found{.of_celebrities = fleet.of_celebrities};
  std::vector<double> took;
  for (const auto& [author, at] : fleet.last_delivery) {
    const double since = Seconds(at - fleet.published.at(author));
    if (IsCelebrity(author)) {
      found.per_second = kFollowers / since;
    } else {
      took.push_back(since);
    }
  }
  EXPECT_EQ(took.size(), posts);
  std::sort(took.begin(), took.end());
  found.p99 = took.at(took.size() * 99 / 100);
  return found;
}

TEST(Fairness, ACelebritysPagesLetOthersPass) {
  const Found alone = Measure(100, 0);
  const Found beside = Measure(100, 1);
  EXPECT_LT(alone.p99, 0.01);
  EXPECT_LT(beside.p99, 0.08) << "16 ranges take turns, each with a batch that is mostly hers";
}

TEST(Fairness, ACelebrityHasWhatOthersLeave) {
  EXPECT_GT(Measure(100, 1).per_second, 0.9 * 134'000) << "what she had while others waited";
}

// The others alone are half of what the node can do.
TEST(Fairness, HalfOfTheNodesTimePassesACelebrity) {
  const Found beside = Measure(375, 1);
  EXPECT_LT(beside.p99, 0.08);
  EXPECT_GT(beside.per_second, 60'000);
}

// They wait while a first page of each celebrity is read in each range.
TEST(Fairness, ABurstOfAHundredCelebritiesStarvesNobody) {
  const Found beside = Measure(375, kMostCelebrities);
  EXPECT_LT(beside.p99, 0.5);
  EXPECT_GT(beside.of_celebrities, 500'000u) << "in ten seconds of which others need half";
}

}  // namespace
}  // namespace fanline::pusher
