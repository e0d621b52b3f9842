#include "fanline/wire/dead_letter.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

TEST(DeadLetterHeaders, APlaceIsReadAsItIsWritten) {
  const LogPlace place{"feed-events.dlq", 3, 12345678901};
  EXPECT_EQ(ToString(place), "feed-events.dlq/3/12345678901");
  EXPECT_EQ(ParseLogPlace(ToString(place)), place);
}

TEST(DeadLetterHeaders, WhatIsNoPlaceIsRefused) {
  for (const char* text : {"", "/", "//", "a/1", "/1/2", "a//2", "a/1/", "a/1/x", "a/-1/2",
                           "a/1/-2", "a/1/2 ", "a/1/99999999999999999999", "a/9999999999/1"}) {
    EXPECT_EQ(ParseLogPlace(text), std::nullopt) << text;
  }
}

// A record's own time and the header's: the earlier one counts, where there is one.
TEST(DeadLetterHeaders, ARecordIsAsOldAsItEverWas) {
  const auto first = [](UnixMs own, const char* header) {
    Record record{.timestamp = own};
    if (header != nullptr) record.headers.emplace_back(kFirstAppendedHeader, header);
    return FirstAppended(record);
  };
  EXPECT_EQ(first(500, nullptr), 500);
  EXPECT_EQ(first(500, "400"), 400);
  EXPECT_EQ(first(500, "600"), 500) << "nobody makes a record younger";
  EXPECT_EQ(first(0, "400"), 400);
  EXPECT_EQ(first(0, nullptr), 0);
  for (const char* none : {"", "0", "-5", "5x", "99999999999999999999"}) {
    EXPECT_EQ(first(500, none), 500) << none;
  }
}

}  // namespace
}  // namespace fanline
