#include "api/framing.h"

#include <gtest/gtest.h>

namespace fanline::api {
namespace {

using Values = std::vector<std::string>;

TEST(Framing, OneLengthOrChunksIsABody) {
  EXPECT_EQ(FramingOf("POST", {"12"}, {}), Framing::kBody);
  EXPECT_EQ(FramingOf("PUT", {}, {"chunked"}), Framing::kBody);
  EXPECT_EQ(FramingOf("DELETE", {}, {"Chunked"}), Framing::kBody);
}

TEST(Framing, NoLengthOrNoneOfItIsNoBody) {
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "POST"}) {
    EXPECT_EQ(FramingOf(method, {}, {}), Framing::kNoBody) << method;
    EXPECT_EQ(FramingOf(method, {"0"}, {}), Framing::kNoBody) << method;
  }
}

TEST(Framing, ABodyWhereThereIsNoneIsUnsafe) {
  EXPECT_EQ(FramingOf("GET", {"5"}, {}), Framing::kUnsafe);
  EXPECT_EQ(FramingOf("HEAD", {"5"}, {}), Framing::kUnsafe);
  EXPECT_EQ(FramingOf("GET", {}, {"chunked"}), Framing::kUnsafe);
}

TEST(Framing, TwoWaysToSayItAreUnsafe) {
  EXPECT_EQ(FramingOf("POST", {"5"}, {"chunked"}), Framing::kUnsafe);
  EXPECT_EQ(FramingOf("POST", {"5", "5"}, {}), Framing::kUnsafe);
  EXPECT_EQ(FramingOf("POST", {}, {"chunked", "chunked"}), Framing::kUnsafe);
}

TEST(Framing, WhatIsNoLengthAndNoChunksIsUnsafe) {
  for (const char* length : {"", "-1", "+5", "5 ", "0x5", "5,5", "9999999999999999999"}) {
    EXPECT_EQ(FramingOf("POST", {length}, {}), Framing::kUnsafe) << length;
  }
  for (const char* encoding : {"", "gzip", "gzip, chunked", "xchunked", "chunked "}) {
    EXPECT_EQ(FramingOf("POST", {}, {encoding}), Framing::kUnsafe) << encoding;
  }
}

}  // namespace
}  // namespace fanline::api
