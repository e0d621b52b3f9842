// Random operations on the real scripts and on the model the simulation runs on: after each of
// them every timeline is compared member by member, every index, owner and position, and every
// reply. A failure prints the seed; FANLINE_SEED=n replays it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "backends/redis/keys.h"
#include "backends/redis/requests.h"
#include "tests/fakes/fake_redis.h"
#include "tests/integration/redis/blocking_timelines.h"
#include "tests/integration/redis/redis_world.h"

namespace fanline::redis::testing {
namespace {

constexpr uint32_t kPartitions = 512;  // two buckets per range
constexpr uint32_t kPosts = 60;
constexpr int kSteps = 1500;

// Small enough that every bound is met often: 12 items, trimmed above 16 members.
constexpr WindowLimits kWindow{12, 32};

std::vector<UserId> ReadersOf(const RangeLayout& layout, Range range, size_t per_bucket) {
  std::vector<UserId> readers;
  for (Bucket bucket = layout.First(range); bucket <= layout.Last(range); ++bucket) {
    size_t found = 0;
    for (uint64_t raw = 1; found < per_bucket; ++raw) {
      if (BucketOf(UserId{raw}) != bucket) continue;
      readers.push_back(UserId{raw});
      ++found;
    }
  }
  return readers;
}

class Model {
 public:
  explicit Model(uint64_t seed)
      : random_(seed),
        options_(WithWindow()),
        console_(options_),
        driver_(options_),
        reader_(options_),
        keys_(options_),
        layout_(kPartitions),
        fake_(layout_, kWindow),
        readers_(ReadersOf(layout_, 0, 3)) {
    for (UserId reader : ReadersOf(layout_, 1, 1)) readers_.push_back(reader);
    console_.Run({"FLUSHALL"});
    driver_.WaitUntilConnected();
    for (uint32_t i = 0; i < kPosts; ++i) {
      // Few distinct times, so that equal ones are common, and authors of one to eight bytes.
      const UserId author{i % 4 == 0 ? UINT64_MAX - 1 - Pick(2) : 100 + Pick(3)};
      const PostId post{(Pick(3) == 0 ? 1u : 9'000'000'000u) + i * 7u};
      posts_.push_back({post, 1000 + Pick(40), author});
      if (Pick(3) == 0) posts_.back().original = {PostId{1 + Pick(9)}, UserId{UINT64_MAX - 2}};
    }
    epochs_ = {{0, 1}, {1, 1}};
    Claim(0);
    Claim(1);
  }

  void Run() {
    for (int step = 0; step < kSteps && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step) + ": " + StepOnce());
      CompareState();
    }
  }

 private:
  static Options WithWindow() {
    Options options = OptionsFromEnvironment();
    options.window = kWindow;
    options.partitions = kPartitions;
    options.timelines_per_call = 2;  // batches are cut
    options.scan_count = 2;          // walks take pages
    return options;
  }

  uint32_t Pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  UserId AnyReader() { return readers_[Pick(static_cast<uint32_t>(readers_.size()))]; }
  Range RangeOf(UserId reader) const { return layout_.RangeOf(reader); }
  // Mostly the owner's epoch, sometimes that of the owner before.
  uint64_t Epoch(Range range) { return Pick(12) == 0 ? epochs_[range] - 1 : epochs_[range]; }

  // Different posts, newest first.
  std::vector<Item> SomeItems(uint32_t most) {
    std::vector<Item> items = posts_;
    std::shuffle(items.begin(), items.end(), random_);
    items.resize(Pick(most + 1));
    std::sort(items.begin(), items.end(), IsNewer);
    return items;
  }
  // More of them than a timeline can mark.
  std::vector<Mark> SomeMarks(uint32_t most) {
    std::set<Mark> marks;
    for (uint32_t i = Pick(most + 1); i > 0; --i) {
      marks.insert({UserId{100 + Pick(9)}, Pick(2) == 0});
    }
    return {marks.begin(), marks.end()};
  }

  std::string StepOnce() {
    const uint32_t dice = Pick(100);
    if (dice < 40) return Batch();
    if (dice < 50) return Begin();
    if (dice < 64) return Finish();
    if (dice < 65) return Abandon();
    if (dice < 77) return Sync();
    if (dice < 80) return Mute();
    if (dice < 88) return ReadPage();
    if (dice < 89) return News();
    if (dice < 90) return Drop();
    if (dice < 92) return Expire();
    if (dice < 93) return FinishPart();
    if (dice < 95) return Reset();
    if (dice < 96) return SavePositions();
    if (dice < 97) return FlushAll();
    return Claim(static_cast<Range>(Pick(2)));
  }

  std::string Batch() {
    const Range range = static_cast<Range>(Pick(2));
    BatchOf batch(range, Epoch(range));
    for (UserId reader : readers_) {
      if (RangeOf(reader) != range || Pick(3) == 0) continue;
      std::vector<Item> adds = SomeItems(Pick(4) == 0 ? 16 : 2);
      std::vector<Item> removes = SomeItems(Pick(3) == 0 ? 6 : 0);
      std::erase_if(removes, [&](const Item& item) {
        return std::find(adds.begin(), adds.end(), item) != adds.end();
      });
      for (Item& item : removes) {
        if (Pick(3) == 0) item = {item.post, 0, Pick(4) == 0 ? UserId{100} : item.author};
      }
      if (adds.size() > 12) adds.resize(12);
      const std::vector<Mark> marks = SomeMarks(Pick(5) == 0 ? 4 : 0);
      if (adds.empty() && removes.empty() && marks.empty()) continue;
      batch.Write(reader, adds, removes, marks);
    }
    const TimelineBatch request = batch.Take();
    if (request.writes.empty()) return "nothing to write";
    const BatchWritten expected = fake_.Do(request);
    const BatchWritten got = driver_.Do(request);
    CompareStatus(expected, got);
    if (expected.status.done()) {
      EXPECT_EQ(got.results, expected.results);
      EXPECT_EQ(got.removed, expected.removed);
      EXPECT_EQ(got.trimmed, expected.trimmed);
      EXPECT_EQ(got.underfilled, expected.underfilled);
    }
    return "batch";
  }

  std::string Begin() {
    const UserId reader = AnyReader();
    const std::string token = std::to_string(random_());
    const RebuildBegan got = reader_.Begin(reader, token);
    EXPECT_TRUE(got.status.done());
    const RebuildBegun expected = fake_.Begin(reader, token, options_.generation);
    EXPECT_EQ(got.begun, expected);
    if (expected == RebuildBegun::kCreated) tokens_[reader] = token;
    FollowChance(RangeOf(reader));
    return "begin";
  }

  // Of the readers whose timelines are gone, a rebuild that begins takes some out of the index.
  void FollowChance(Range range) {
    const auto left = Scored(keys_.Live(range));
    for (UserId reader : readers_) {
      if (RangeOf(reader) == range && !left.contains(ToString(reader))) fake_.Unlist(reader);
    }
  }
  // A walk numbers those it lists in the order in which it finds them.
  void FollowNumbers(Range range) {
    const auto listed = Scored(keys_.Live(range));
    for (UserId reader : readers_) {
      const auto found = listed.find(ToString(reader));
      if (found == listed.end()) continue;
      fake_.Number(reader, static_cast<uint64_t>(found->second));
    }
  }

  std::string News() {
    ReadNews request;
    request.range = static_cast<Range>(Pick(2));
    request.epoch = Epoch(request.range);
    request.heard = Pick(3) == 0 ? 0 : heard_[request.range];
    request.limit = 1 + Pick(3);
    const auto expected = fake_.Do(request);
    const auto got = driver_.Do(request);
    CompareStatus(expected, got);
    EXPECT_EQ(got.index, expected.index);
    EXPECT_EQ(got.last, expected.last);
    EXPECT_EQ(got.readers, expected.readers);
    const auto pairs = [](const NewsRead& news) {
      std::vector<std::pair<UserId, uint64_t>> all;
      for (const auto& [reader, number] : news.announced) all.emplace_back(reader, number);
      return all;
    };
    EXPECT_EQ(pairs(got), pairs(expected));
    const bool more = got.announced.size() == request.limit;
    heard_[request.range] = more ? got.announced.back().number : got.last;
    return "news";
  }

  std::string Finish() {
    if (tokens_.empty()) return "nothing to finish";
    const auto& [reader, token] =
        *std::next(tokens_.begin(), Pick(static_cast<uint32_t>(tokens_.size())));
    const auto items = SomeItems(30);
    const Floor floor = Pick(2) == 0 ? kNoFloor : 1000 + Pick(30);
    const auto marks = SomeMarks(Pick(2) == 0 ? 9 : 0);
    const uint64_t mutes = Version();
    const RebuildFinished got = reader_.Finish(reader, token, items, floor, marks, mutes);
    EXPECT_TRUE(got.status.done());
    EXPECT_EQ(got.applied, fake_.Finish(reader, token, items, floor, marks, mutes));
    return "finish";
  }

  std::string Abandon() {
    if (tokens_.empty()) return "nothing to abandon";
    const auto& [reader, token] =
        *std::next(tokens_.begin(), Pick(static_cast<uint32_t>(tokens_.size())));
    EXPECT_TRUE(reader_.Do(AbandonRebuild{0, reader, token}).status.done());
    fake_.Abandon(reader, token);
    return "abandon";
  }

  std::string Sync() {
    ApplySync request;
    request.reader = AnyReader();
    request.range = RangeOf(request.reader);
    request.epoch = Epoch(request.range);
    const UserId some{100 + Pick(9)};
    request.author = Pick(2) == 0 ? some : posts_[Pick(kPosts)].author;
    request.marked = Pick(2) == 0;
    request.no_reposts = Pick(2) == 0;
    request.items = SomeItems(Pick(3) == 0 ? 0 : kPosts);
    std::erase_if(request.items, [&](const Item& item) { return item.author != request.author; });
    if (Pick(3) == 0) request.floor_at_least = 1000 + Pick(25);
    const auto expected = fake_.Do(request);
    const auto got = driver_.Do(request);
    CompareStatus(expected, got);
    EXPECT_EQ(got.live, expected.live);
    return "sync";
  }

  uint64_t Version() { return Pick(3) == 0 ? 0 : UINT64_MAX - 1 - Pick(2); }
  std::string Mute() {
    SetMutes request;
    request.reader = AnyReader();
    request.range = RangeOf(request.reader);
    request.epoch = Epoch(request.range);
    request.mutes = Version();
    const auto expected = fake_.Do(request);
    const auto got = driver_.Do(request);
    CompareStatus(expected, got);
    EXPECT_EQ(got.full, expected.full);
    EXPECT_EQ(got.live, expected.live);
    return "mute";
  }

  std::string ReadPage() {
    const UserId reader = AnyReader();
    std::optional<Position> after;
    if (Pick(2) == 0) {
      const Item& item = posts_[Pick(kPosts)];
      after = Position{item.created_at, item.post};
    }
    const uint32_t limit = 1 + Pick(8);
    const bool in_front = Pick(2) == 0;
    auto [id, status, got] = reader_.Read(reader, after, limit, in_front);
    EXPECT_TRUE(status.done());
    auto expected = fake_.Read(reader, after, limit, in_front);
    for (LivePage* page : {&got, &expected}) {  // in whatever order
      std::sort(page->marks.authors.begin(), page->marks.authors.end());
    }
    if (!after || after->created_at > got.floor) {
      EXPECT_EQ(got.in_front, expected.in_front);
    }
    EXPECT_EQ(got.state, expected.state);
    EXPECT_EQ(got.items, expected.items);
    EXPECT_EQ(got.marks, expected.marks);
    EXPECT_EQ(got.mutes, expected.mutes);
    EXPECT_EQ(got.floor, expected.floor);
    EXPECT_EQ(got.reached_floor, expected.reached_floor);
    EXPECT_EQ(got.as_of, expected.as_of);
    return "read page";
  }

  std::string Drop() {
    DropTimeline request;
    request.reader = AnyReader();
    request.range = RangeOf(request.reader);
    request.epoch = Epoch(request.range);
    CompareStatus(fake_.Do(request), driver_.Do(request));
    return "drop";
  }

  std::string Expire() {
    const UserId reader = AnyReader();
    console_.Run({"DEL", Name(keys_.Timeline(reader))});
    fake_.Expire(reader);
    return "expire";
  }

  std::string FinishPart() {
    MarkPart request;
    request.author = readers_[0];  // a post has one author
    request.post = posts_[Pick(5)].post;
    request.parts = 2 + Pick(2);  // as when it is dispatched again, to other ranges
    request.part = Pick(4);
    request.delivered = Pick(2) == 0;
    const auto expected = fake_.Do(request);
    const auto got = driver_.Do(request);
    EXPECT_EQ(got.first_delivery, expected.first_delivery);
    EXPECT_EQ(got.last_part, expected.last_part);
    EXPECT_EQ(got.any_delivery, expected.any_delivery);
    return "mark";
  }

  std::string Reset() {
    ResetRange request;
    request.range = static_cast<Range>(Pick(2));
    request.epoch = Epoch(request.range);
    request.timelines = static_cast<ResetRange::Timelines>(Pick(3));
    // Mostly of the generation that the reading side knows.
    if (Pick(3) > 0) request.position = {Pick(4) == 0 ? 2u : 1u, Pick(1000)};
    const auto expected = fake_.Do(request);
    const auto got = driver_.Do(request);
    CompareStatus(expected, got);
    EXPECT_EQ(got.dropped, expected.dropped);
    if (request.timelines == ResetRange::Timelines::kIndex) FollowNumbers(request.range);
    if (expected.status.done() && request.position) positions_[request.range] = *request.position;
    return "reset";
  }

  std::string SavePositions() {
    SavePosition request;
    request.range = static_cast<Range>(Pick(2));
    request.epoch = Epoch(request.range);
    request.expected = positions_[request.range];
    request.next = {request.expected.generation, request.expected.offset + Pick(3)};
    request.next.as_of = Pick(3);
    if (Pick(4) == 0) request.expected.offset += 100;
    const auto expected = fake_.Do(request);
    const auto got = driver_.Do(request);
    CompareStatus(expected, got);
    EXPECT_EQ(got.mismatch, expected.mismatch);
    if (expected.status.done() && !expected.mismatch) positions_[request.range] = request.next;
    return "save position";
  }

  std::string FlushAll() {
    console_.Run({"FLUSHALL"});
    fake_.FlushAll();
    return "flush all";
  }

  std::string Claim(Range range) {
    ClaimRange request;
    request.range = range;
    request.epoch = Pick(4) == 0 ? epochs_[range] : epochs_[range] + 1;
    const auto expected = fake_.Do(request);
    const auto got = driver_.Do(request);
    EXPECT_EQ(got.status.outcome, Outcome::kDone);
    EXPECT_EQ(got.refused_by, expected.refused_by);
    EXPECT_EQ(got.index, expected.index);
    EXPECT_EQ(got.position, expected.position);
    if (expected.refused_by == 0) epochs_[range] = request.epoch;
    return "claim";
  }

  template <class Answer>
  void CompareStatus(const Answer& expected, const Answer& got) {
    EXPECT_EQ(got.status.outcome, expected.status.outcome) << got.status.message;
    EXPECT_EQ(got.needs_claim, expected.needs_claim);
  }

  static std::string Name(const Key& key) { return std::string(std::string_view(key)); }

  // A sorted set.
  std::map<std::string, int64_t> Scored(const Key& key) {
    const auto list = console_.List({"ZRANGE", Name(key), "0", "-1", "WITHSCORES"});
    std::map<std::string, int64_t> scores;
    for (size_t i = 0; i + 1 < list.size(); i += 2) {
      scores[list[i]] = static_cast<int64_t>(std::strtod(list[i + 1].c_str(), nullptr));
    }
    return scores;
  }

  void CompareState() {
    for (UserId reader : readers_) {
      const auto list =
          console_.List({"ZRANGE", Name(keys_.Timeline(reader)), "0", "-1", "WITHSCORES"});
      std::vector<std::pair<std::string, double>> members;
      for (size_t i = 0; i + 1 < list.size(); i += 2) {
        members.emplace_back(list[i], std::strtod(list[i + 1].c_str(), nullptr));
      }
      EXPECT_EQ(members, fake_.Members(reader)) << "reader " << ToString(reader);
      EXPECT_LE(members.size(), kWindow.max_entries);
    }
    for (Range range = 0; range <= 1; ++range) {
      EXPECT_EQ(Scored(keys_.Live(range)), fake_.LiveMembers(range));
      const auto own = fake_.own(range);
      EXPECT_EQ(console_.Run({"GET", Name(keys_.Own(range))}),
                own ? std::to_string(*own) : "(nil)");
      const auto position = fake_.position(range);
      EXPECT_EQ(console_.Run({"GET", Name(keys_.Pos(range))}),
                position ? TextOf(*position, layout_) : "(nil)");
    }
  }

  std::mt19937_64 random_;
  const Options options_;
  Console console_;
  Driver driver_;
  BlockingTimelines reader_;
  const Keys keys_;
  RangeLayout layout_;
  fakes::FakeRedis fake_;
  std::vector<UserId> readers_;
  std::vector<Item> posts_;
  std::map<UserId, std::string> tokens_;
  std::map<Range, uint64_t> epochs_;
  std::map<Range, uint64_t> heard_;  // of news
  std::map<Range, AppliedPosition> positions_;
};

std::vector<uint64_t> Seeds() {
  if (const char* seed = std::getenv("FANLINE_SEED")) return {std::strtoull(seed, nullptr, 10)};
  std::vector<uint64_t> seeds = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) seeds.push_back(std::random_device{}());
  return seeds;
}

TEST(RedisScripts, DoWhatTheModelDoesMemberByMember) {
  for (uint64_t seed : Seeds()) {
    SCOPED_TRACE("FANLINE_SEED=" + std::to_string(seed));
    Model(seed).Run();
    if (HasFailure()) {
      std::printf("replay with FANLINE_SEED=%llu\n", static_cast<unsigned long long>(seed));
      return;
    }
  }
}

}  // namespace
}  // namespace fanline::redis::testing
