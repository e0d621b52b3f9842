#include "http/descriptors.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "fanline/base/misconfigured.h"

namespace fanline::http {
namespace {

TEST(Descriptors, TheSoftLimitIsRaisedToTheHardOne) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  RaiseDescriptorLimit(64);
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, limit.rlim_max);
}

TEST(Descriptors, TooFewAreForTheOperatorToChange) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  try {
    RaiseDescriptorLimit(limit.rlim_max + 1);
    FAIL() << "more than there may be";
  } catch (const Misconfigured& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("ulimit -Hn"));
  }
}

}  // namespace
}  // namespace fanline::http
