#include <gtest/gtest.h>

#include "backends/redis/batch_plan.h"
#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "backends/redis/keys.h"

namespace fanline::redis {
namespace {

std::string Name(const Key& key) { return std::string(std::string_view(key)); }

// The arguments of one encoded command.
std::vector<std::string> Words(const CommandBuffer& buffer) {
  std::vector<std::string> words;
  std::string_view rest = buffer.bytes();
  const auto line = [&] {
    const size_t end = rest.find("\r\n");
    const std::string text(rest.substr(0, end));
    rest.remove_prefix(end + 2);
    return text;
  };
  const size_t count = std::stoul(line().substr(1));
  while (!rest.empty()) {
    const size_t size = std::stoul(line().substr(1));
    words.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size + 2);
  }
  EXPECT_EQ(words.size(), count) << "the header must announce exactly what follows";
  return words;
}

TEST(RedisEncoding, ACommandIsWrittenInTheProtocol) {
  CommandBuffer out;
  out.Command("ZADD", "key", -1700000000000, uint64_t{18446744073709551614u}, "");
  EXPECT_EQ(out.bytes(),
            "*5\r\n$4\r\nZADD\r\n$3\r\nkey\r\n$14\r\n-1700000000000\r\n$20\r\n18446744073709551614"
            "\r\n$0\r\n\r\n");
}

TEST(RedisEncoding, KeysCarryTheTagOfTheirBucket) {
  const UserId reader{42};
  const std::string tag = "{" + TagOf(BucketOf(reader)) + "}";
  EXPECT_EQ(Name(Key::Timeline(reader)), "tl:" + tag + ":42");
  EXPECT_EQ(Name(Key::Live(BucketOf(reader))), "live:" + tag);
  EXPECT_EQ(Name(Key::Own(BucketOf(reader))), "own:" + tag);
  EXPECT_EQ(Name(Key::Pos(BucketOf(reader))), "pos:" + tag);
  EXPECT_EQ(Name(Key::Done(reader, PostId{7})), "done:" + tag + ":7");
}

TEST(RedisEncoding, TheLongestKeyFits) {
  for (Bucket bucket = 0; bucket < kBuckets; ++bucket) {
    const UserId longest{UINT64_MAX - 1};
    EXPECT_TRUE(Name(Key::Timeline(bucket, longest)).ends_with("18446744073709551614"));
  }
}

TEST(RedisEncoding, ATimelineKeyTellsItsReader) {
  const UserId reader{42};
  EXPECT_EQ(ReaderOfTimelineKey(Key::Timeline(reader)), reader);
  EXPECT_EQ(ReaderOfTimelineKey(Key::Timeline((BucketOf(reader) + 1) % kBuckets, reader)),
            std::nullopt)
      << "another bucket's tag";
  EXPECT_EQ(ReaderOfTimelineKey("tl:{5}:"), std::nullopt);
  EXPECT_EQ(ReaderOfTimelineKey("tl:{5}:x"), std::nullopt);
  EXPECT_EQ(ReaderOfTimelineKey("live:{5}"), std::nullopt);
  EXPECT_EQ(ReaderOfTimelineKey(""), std::nullopt);
}

// ---- batches --------------------------------------------------------------------------------

// `adds` and `removes` per write; readers 1, 2, ... each in the bucket given.
struct Shape {
  Bucket bucket;
  uint32_t adds;
  uint32_t removes;
};
TimelineBatch BatchOf(const std::vector<Shape>& shapes) {
  TimelineBatch batch;
  batch.epoch = 7;
  for (const Shape& shape : shapes) {
    for (uint32_t i = 0; i < shape.adds; ++i) batch.adds.push_back({PostId{100 + i}, 5000 + i});
    for (uint32_t i = 0; i < shape.removes; ++i) batch.removes.push_back(PostId{200 + i});
    batch.writes.push_back({UserId{batch.writes.size() + 1}, shape.bucket,
                            static_cast<uint32_t>(batch.adds.size()),
                            static_cast<uint32_t>(batch.removes.size())});
  }
  return batch;
}

TEST(RedisBatchPlan, ABatchIsCutByKeysAndByBytes) {
  Options options;
  options.keys_per_call = 4;
  const auto batch = BatchOf(std::vector<Shape>(10, {0, 1, 0}));
  auto parts = CutBatch(batch, options);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].last, 4u);
  EXPECT_EQ(parts[2].first, 8u);
  EXPECT_EQ(parts[2].last, 10u);

  options.keys_per_call = 500;
  options.bytes_per_call = 2000;
  const auto heavy = BatchOf(std::vector<Shape>(10, {0, 16, 0}));  // about 800 bytes each
  parts = CutBatch(heavy, options);
  ASSERT_EQ(parts.size(), 5u);
  options.bytes_per_call = 1;
  EXPECT_EQ(CutBatch(heavy, options).size(), 10u) << "a write is never split";
  EXPECT_TRUE(CutBatch(TimelineBatch{}, options).empty());
}

TEST(RedisBatchPlan, APruneAsksForTheHeaderAndEachReaderOfOneBucket) {
  const auto batch = BatchOf({{3, 1, 0}, {5, 1, 0}, {5, 1, 0}});
  const auto runs = RunsOf(batch, {0, 3});
  ASSERT_EQ(runs.size(), 2u);
  CommandBuffer out;
  EncodePrune(batch, runs[1], out);
  EXPECT_EQ(Words(out),
            (std::vector<std::string>{"SMISMEMBER", Name(Key::Live(5)), "#complete", "2", "3"}));
}

TEST(RedisBatchPlan, AnApplyNamesItsKeysByBucketAndEachItemOnce) {
  const auto batch = BatchOf({{3, 1, 0}, {3, 2, 1}, {5, 1, 0}, {5, 0, 1}});
  const auto runs = RunsOf(batch, {0, 4});
  CommandBuffer out;
  EncodeApply(batch, runs, {true, true, true, true}, Options{}, "sha", out);
  const std::vector<std::string> head = {"EVALSHA", "sha", "10"};
  const std::vector<std::string> keys = {Name(Key::Own(3)),
                                         Name(Key::Own(5)),
                                         Name(Key::Live(3)),
                                         Name(Key::Live(5)),
                                         Name(Key::Edge(3)),
                                         Name(Key::Edge(5)),
                                         Name(Key::Timeline(3, UserId{1})),
                                         Name(Key::Timeline(3, UserId{2})),
                                         Name(Key::Timeline(5, UserId{3})),
                                         Name(Key::Timeline(5, UserId{4}))};
  const std::vector<std::string> fixed = {"7", "2", "450", "496", "225"};
  const std::vector<std::string> items = {"2", "-5000", "100", "-5001", "101"};
  const std::vector<std::string> timelines_per_bucket = {"2", "2"};
  const std::vector<std::string> reader_1 = {"1"};
  const std::vector<std::string> reader_2 = {"-34", "1", "2", "200"};  // 2 adds + 32 * 1 remove
  const std::vector<std::string> reader_3 = {"1"};
  const std::vector<std::string> reader_4 = {"-32", "200"};
  std::vector<std::string> expected;
  for (const auto& part :
       {head, keys, fixed, items, timelines_per_bucket, reader_1, reader_2, reader_3, reader_4}) {
    expected.insert(expected.end(), part.begin(), part.end());
  }
  EXPECT_EQ(Words(out), expected);
}

TEST(RedisBatchPlan, AnApplyFencesBucketsOfWhichNothingIsLeft) {
  const auto batch = BatchOf({{3, 1, 0}, {5, 1, 0}});
  const auto runs = RunsOf(batch, {0, 2});
  CommandBuffer out;
  EncodeApply(batch, runs, {false, true}, Options{}, "sha", out);
  const auto words = Words(out);
  EXPECT_EQ(words[2], "7");
  EXPECT_EQ(words[3], Name(Key::Own(3)));
  EXPECT_EQ((std::vector<std::string>{words.end() - 3, words.end()}),
            (std::vector<std::string>{"0", "1", "1"}));
}

// ---- options --------------------------------------------------------------------------------

TEST(RedisOptions, AWindowThatLeavesNoRoomForAWriteIsAProblem) {
  Options options;
  EXPECT_EQ(Problem(options), "");
  options.window = {495, 512};
  EXPECT_NE(Problem(options), "");
  options.window = {494, 512};
  EXPECT_EQ(Problem(options), "");
}

}  // namespace
}  // namespace fanline::redis
