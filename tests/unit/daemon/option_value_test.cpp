#include "daemon/options/option_value.h"

#include <gtest/gtest.h>

namespace fanline::daemon {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

template <typename T>
std::string Refusal(const std::string& text, std::optional<ValueRange> range = {}) {
  T value{};
  return StoreValue(&value, range, {text});
}

template <typename T>
T Read(const std::string& text) {
  T value{};
  EXPECT_EQ(StoreValue(&value, {}, {text}), "");
  return value;
}

template <typename T>
std::string Shown(T value) {
  return ShowValue(&value);
}

TEST(OptionValue, DurationsAreWrittenWithAUnit) {
  EXPECT_EQ(Read<milliseconds>("500ms"), milliseconds(500));
  EXPECT_EQ(Read<milliseconds>("2s"), milliseconds(2000));
  EXPECT_EQ(Read<milliseconds>("1m"), milliseconds(60'000));
  EXPECT_EQ(Read<milliseconds>("1h"), milliseconds(3'600'000));
  EXPECT_EQ(Read<microseconds>("250us"), microseconds(250));
}

TEST(OptionValue, ADurationThatIsNoneIsRefused) {
  for (const char* text : {"", "5", "ms", "5 ms", "-5ms", "1.5s", "5d", "99999999999999999999s",
                           "9223372036854775807h"}) {
    EXPECT_NE(Refusal<milliseconds>(text), "") << text;
  }
}

TEST(OptionValue, ADurationIsRefusedInItsUnitsAndNotRounded) {
  EXPECT_EQ(Refusal<milliseconds>("2m", ValueRange{1, 60'000}), "is not in 1ms..1m");
  EXPECT_EQ(Refusal<milliseconds>("1500us"), "is finer than a millisecond");
}

TEST(OptionValue, ADurationIsShownInTheLargestUnitThatSaysItExactly) {
  EXPECT_EQ(Shown(milliseconds(120'000)), "2m");
  EXPECT_EQ(Shown(milliseconds(90'000)), "90s");
  EXPECT_EQ(Shown(milliseconds(1)), "1ms");
  EXPECT_EQ(Shown(microseconds(1)), "1us");
  EXPECT_EQ(Shown(milliseconds(0)), "0s");
}

TEST(OptionValue, WholeNumbersAreRefusedOutsideTheirTypeAndRange) {
  EXPECT_EQ(Read<uint16_t>("65535"), 65535);
  EXPECT_EQ(Refusal<uint16_t>("65536"), "is not a whole number in 0..65535");
  for (const char* text : {"", " 5", "5 ", "0x10", "1e3", "+5", "5.0"}) {
    EXPECT_NE(Refusal<int64_t>(text), "") << text;
  }
  EXPECT_EQ(Refusal<uint64_t>("18446744073709551615", ValueRange{1, 9}), "is not in 1..9");
}

TEST(OptionValue, ARealNumberMustBeFinite) {
  EXPECT_EQ(Read<double>("0.01"), 0.01);
  EXPECT_EQ(Refusal<double>("nan"), "is not a number");
  EXPECT_EQ(Refusal<double>("1.5", ValueRange{0, 1}), "is not in 0..1");
}

TEST(OptionValue, ARefusedValueLeavesTheTargetAsItWas) {
  int64_t value = 7;
  EXPECT_NE(StoreValue(&value, ValueRange{1, 9}, {"10"}), "");
  EXPECT_EQ(value, 7);
}

TEST(OptionValue, AListDropsEmptyItemsAndReplacesTheDefault) {
  std::vector<std::string> list{"default"};
  EXPECT_EQ(StoreValue(&list, {}, {",a,,b,", "c"}), "");
  EXPECT_EQ(list, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(OptionValue, AnEndpointNeedsHostAndPort) {
  EXPECT_EQ(Read<Endpoint>("db-1:3306"), (Endpoint{"db-1", 3306}));
  EXPECT_EQ(Read<Endpoint>("[::1]:0"), (Endpoint{"::1", 0}));
  EXPECT_EQ(Shown(Endpoint{"::1", 80}), "[::1]:80");
  for (const char* text : {"", ":80", "db", "db:", "db:65536", "::1:80", "[]:80", "db:-1", "[",
                           "[:80", "[][]:80", "[[::1]]:80"}) {
    EXPECT_EQ(Refusal<Endpoint>(text), "is not host:port") << text;
  }
}

}  // namespace
}  // namespace fanline::daemon
