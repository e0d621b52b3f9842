#include <gtest/gtest.h>

#include "backends/redis/batch_job.h"
#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "backends/redis/keys.h"

namespace fanline::redis {
namespace {

std::string Name(const Key& key) { return std::string(std::string_view(key)); }

TEST(RedisEncoding, ACommandIsWrittenInTheProtocol) {
  CommandBuffer out;
  out.Command("ZADD", "key", -1700000000000, uint64_t{18446744073709551614u}, "");
  EXPECT_EQ(out.bytes(),
            "*5\r\n$4\r\nZADD\r\n$3\r\nkey\r\n$14\r\n-1700000000000\r\n$20\r\n18446744073709551614"
            "\r\n$0\r\n\r\n");
}

Keys KeysOf(uint32_t partitions, const std::string& prefix = {}) {
  return Keys({.partitions = partitions, .key_prefix = prefix});
}

TEST(RedisEncoding, KeysCarryTheTagOfTheirRangesFirstBucket) {
  const UserId reader{42};
  for (const uint32_t partitions : {1u, 16u, 1024u}) {
    const Keys keys = KeysOf(partitions);
    const Range range = keys.layout().RangeOf(reader);
    const std::string tag = "{" + TagOf(keys.layout().First(range)) + "}";
    EXPECT_EQ(Name(keys.Timeline(reader)), "tl:" + tag + ":42");
    EXPECT_EQ(Name(keys.Timeline(range, reader)), "tl:" + tag + ":42");
    EXPECT_EQ(Name(keys.Live(range)), "live:" + tag);
    EXPECT_EQ(Name(keys.MaxFloor(range)), "maxfloor:" + tag);
    EXPECT_EQ(Name(keys.Own(range)), "own:" + tag);
    EXPECT_EQ(Name(keys.Pos(range)), "pos:" + tag);
    EXPECT_EQ(Name(keys.Done(reader, PostId{7})), "done:" + tag + ":7");
    EXPECT_EQ(keys.TimelinesOf(range), "tl:" + tag + ":*");
  }
}

TEST(RedisEncoding, APrefixStandsBeforeEveryKeyAndPattern) {
  const Keys keys = KeysOf(16, "blue:");
  const Keys others = KeysOf(16);
  const UserId reader{42};
  const Range range = keys.layout().RangeOf(reader);
  const auto prefixed = [](const std::string& name) { return "blue:" + name; };
  EXPECT_EQ(Name(keys.Timeline(reader)), prefixed(Name(others.Timeline(reader))));
  EXPECT_EQ(Name(keys.Live(range)), prefixed(Name(others.Live(range))));
  EXPECT_EQ(Name(keys.MaxFloor(range)), prefixed(Name(others.MaxFloor(range))));
  EXPECT_EQ(Name(keys.Own(range)), prefixed(Name(others.Own(range))));
  EXPECT_EQ(Name(keys.Pos(range)), prefixed(Name(others.Pos(range))));
  EXPECT_EQ(Name(keys.Installation()), prefixed(Name(others.Installation())));
  EXPECT_EQ(Name(keys.Done(reader, PostId{7})), prefixed(Name(others.Done(reader, PostId{7}))));
  EXPECT_EQ(keys.TimelinesOf(range), prefixed(others.TimelinesOf(range)));
  EXPECT_EQ(keys.Timelines(), prefixed(others.Timelines()));
  EXPECT_EQ(keys.All(), prefixed(others.All()));
}

TEST(RedisEncoding, KeysOfAnotherPrefixAreNotOurs) {
  const Keys blue = KeysOf(16, "blue:");
  const Keys none = KeysOf(16);
  const UserId reader{42};
  EXPECT_TRUE(blue.IsOurs(blue.Timeline(reader)));
  EXPECT_TRUE(blue.ParseTimeline(blue.Timeline(reader)));
  EXPECT_FALSE(blue.IsOurs(none.Timeline(reader)));
  EXPECT_FALSE(blue.ParseTimeline(none.Timeline(reader)));
  EXPECT_FALSE(none.IsOurs(blue.Timeline(reader)));
  EXPECT_FALSE(none.ParseTimeline(blue.Timeline(reader)));
}

TEST(RedisEncoding, TheLongestKeyFits) {
  const Keys keys = KeysOf(kBuckets, std::string(kMostOfPrefix, 'p'));
  for (Range range = 0; range < static_cast<Range>(kBuckets); ++range) {
    const UserId longest{UINT64_MAX - 1};
    EXPECT_TRUE(Name(keys.Timeline(range, longest)).ends_with("18446744073709551614"));
  }
}

TEST(RedisEncoding, ATimelineKeyTellsItsReaderAndWhetherTheRangeIsTheReaders) {
  const Keys keys = KeysOf(16);
  const UserId reader{42};
  const Range range = keys.layout().RangeOf(reader);
  const auto own = keys.ParseTimeline(keys.Timeline(reader));
  ASSERT_TRUE(own);
  EXPECT_EQ(own->reader, reader);
  EXPECT_EQ(own->range, range);
  EXPECT_TRUE(own->in_its_range);
  const Range other = (range + 1) % 16;
  const auto stray = keys.ParseTimeline(keys.Timeline(other, reader));
  ASSERT_TRUE(stray);
  EXPECT_EQ(stray->range, other);
  EXPECT_FALSE(stray->in_its_range);
  const std::string no_range = "tl:{" + TagOf(1) + "}:42";  // of 1,024 ranges, but not of 16
  for (const std::string& name : {no_range, std::string("tl:{5}:"), std::string("tl:{5}:x"),
                                  std::string("tl:{5}"), std::string("live:{5}"), std::string()}) {
    EXPECT_EQ(keys.ParseTimeline(name), std::nullopt) << name;
  }
}

TEST(RedisEncoding, KeysOfEveryNumberOfRangesAreOurs) {
  const Keys keys = KeysOf(16);
  for (Bucket bucket : {0u, 1u, 1023u}) {
    const std::string tag = "{" + TagOf(bucket) + "}";
    for (const std::string& ours :
         {"tl:" + tag + ":7", "done:" + tag + ":7", "live:" + tag, "maxfloor:" + tag, "own:" + tag,
          "pos:" + tag, "installation:" + tag}) {
      EXPECT_TRUE(keys.IsOurs(ours)) << ours;
    }
    for (const std::string& foreign :
         {"tl:" + tag, "tl:" + tag + ":", "tl:" + tag + ":x", "done:" + tag + ":7x",
          "live:" + tag + ":7", "own:" + TagOf(bucket), "owner:" + tag, "cart:" + tag + ":7"}) {
      EXPECT_FALSE(keys.IsOurs(foreign)) << foreign;
    }
  }
}

TEST(RedisEncoding, KeysWithATagOfNoRangeAreNotOurs) {
  const Keys keys = KeysOf(16);
  for (const char* foreign :
       {"", "session:7", "tl:{x}:7", "tl:5:7", "tl:{41}:7", "done:{41}:7", "live:{41}", "pos:{7}",
        "own:{41}", "maxfloor:{41}", "live:{}", "live:{5}"}) {
    EXPECT_FALSE(keys.IsOurs(foreign)) << foreign;
  }
}

// ---- batches --------------------------------------------------------------------------------

// Per write; readers 1, 2, ...
struct Shape {
  uint32_t adds;
  uint32_t removes;
};
TimelineBatch BatchOf(const std::vector<Shape>& shapes) {
  TimelineBatch batch{.range = 3, .epoch = 7};
  for (const Shape& shape : shapes) {
    for (uint32_t i = 0; i < shape.adds; ++i)
      batch.adds.push_back({PostId{100 + i}, 5000 + i, UserId{9}});
    for (uint32_t i = 0; i < shape.removes; ++i)
      batch.removes.push_back({PostId{200 + i}, 0, UserId{9}});
    batch.writes.push_back({UserId{batch.writes.size() + 1},
                            static_cast<uint32_t>(batch.adds.size()),
                            static_cast<uint32_t>(batch.removes.size())});
  }
  return batch;
}

TEST(RedisBatch, ABatchIsCutByTimelines) {
  const Options options{.timelines_per_call = 4};
  const auto batch = BatchOf(std::vector<Shape>(10, {1, 0}));
  EXPECT_EQ(NextCall(batch, 0, options).last, 4u);
  EXPECT_EQ(NextCall(batch, 8, options).last, 10u);
  EXPECT_EQ(NextCall(TimelineBatch{}, 0, options).last, 0u);
}

// Each write has items that no other has, and as many removes.
TEST(RedisBatch, NoCallHasMoreArgumentsThanServicesTake) {
  TimelineBatch batch = BatchOf(std::vector<Shape>(80, {kMaxAddsPerWrite, kMaxAddsPerWrite}));
  for (size_t i = 0; i < batch.adds.size(); ++i) batch.adds[i].post = PostId{1'000 + i};
  uint32_t done = 0;
  for (int calls = 0; done < 80; ++calls) {
    const BatchCall call = NextCall(batch, done, Options{});
    const CommandBuffer out = EncodeApply(batch, call, Options{}, KeysOf(16));
    const size_t arguments = std::stoul(std::string(out.bytes().substr(1)));
    EXPECT_LE(arguments, kMostArguments);
    EXPECT_EQ(calls == 0, arguments > kMostArguments - 82) << "a first call that is full";
    done = call.last;
  }
}

TEST(RedisBatch, AnApplyNamesEachItemOnceAndFencesAlsoWhenNothingIsToBeWritten) {
  const Keys keys = KeysOf(16);
  const auto batch = BatchOf({{1, 0}, {2, 1}, {1, 0}, {0, 1}});
  for (const uint32_t writes : {4u, 0u}) {
    const CommandBuffer out = EncodeApply(batch, {0, writes}, Options{}, keys);
    const std::string command(out.bytes());
    EXPECT_NE(command.find(Name(keys.Own(3))), std::string::npos);
    EXPECT_EQ(command.find("-5000") != std::string::npos, writes > 0);
    EXPECT_EQ(command.find("-5000"), command.rfind("-5000")) << "a time of three writes";
  }
}

// ---- options --------------------------------------------------------------------------------

TEST(RedisOptions, AWindowLeavesRoomForAWrite) {
  EXPECT_FALSE((WindowLimits{494, 512}.fits()));
  EXPECT_TRUE((WindowLimits{493, 512}.fits()));
}

}  // namespace
}  // namespace fanline::redis
