#include "backends/mysql/repairs/app_edges.h"

#include <gtest/gtest.h>

namespace fanline::mysql {
namespace {

TEST(AppEdges, NamesAreLettersDigitsAndUnderscoresOnly) {
  for (const char* good : {"follows", "Follows_2", "_", "7"}) EXPECT_TRUE(IsIdentifier(good));
  for (const char* bad : {"", "a b", "a`b", "a.b", "a;b", "a-b", "a'b", "caf\xc3\xa9"}) {
    EXPECT_FALSE(IsIdentifier(bad)) << bad;
  }
  EXPECT_TRUE(IsIdentifier(std::string(64, 'a')));
  EXPECT_FALSE(IsIdentifier(std::string(65, 'a')));
}

}  // namespace
}  // namespace fanline::mysql
