#include "feedctl/json_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace fanline::feedctl {
namespace {

TEST(JsonText, AMemberGoesToTheEnd) {
  EXPECT_EQ(WithMember("{}", "items", "[]"), R"({"items":[]})");
  EXPECT_EQ(WithMember(R"({"user":"5"})", "items", "[1]"), R"({"user":"5","items":[1]})");
}

TEST(JsonText, AListIsJoined) {
  EXPECT_EQ(JsonList({}), "[]");
  EXPECT_EQ(JsonList(std::vector<std::string>{"1"}), "[1]");
  EXPECT_EQ(JsonList(std::vector<std::string>{R"({"a":1})", "null"}), R"([{"a":1},null])");
}

}  // namespace
}  // namespace fanline::feedctl
