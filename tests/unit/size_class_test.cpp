#include "fanline/model/size_class.h"

#include <gtest/gtest.h>

#include <string>

namespace fanline {
namespace {

TEST(SizeClass, NamesTheClassOfEachFollowerCount) {
  const std::pair<uint64_t, std::string> table[] = {
      {0, "lt_100"},      {99, "lt_100"},     {100, "lt_1k"},       {999, "lt_1k"},
      {1'000, "lt_10k"},  {9'999, "lt_10k"},  {10'000, "lt_100k"},  {99'999, "lt_100k"},
      {100'000, "lt_1m"}, {999'999, "lt_1m"}, {1'000'000, "ge_1m"}, {UINT64_MAX, "ge_1m"},
  };
  for (const auto& [followers, name] : table) {
    EXPECT_EQ(kSizeClasses[SizeClassOf(followers)], name) << followers;
  }
  EXPECT_EQ(std::size(kSizeClasses), static_cast<size_t>(kSizeClassCount));
}

}  // namespace
}  // namespace fanline
