#include "daemon/options/redact.h"

#include <gtest/gtest.h>

namespace fanline::daemon {
namespace {

TEST(Redact, MasksTheUserInformationOfAUrl) {
  EXPECT_EQ(Redact("mysql://app:s3cret@db1:3306/feed"), "mysql://***@db1:3306/feed");
  EXPECT_EQ(Redact("redis://:s3cret@r"), "redis://***@r");
}

TEST(Redact, MasksEveryUrlOfAText) {
  EXPECT_EQ(Redact("tried redis://a:b@h1,redis://c:d@h2 twice"),
            "tried redis://***@h1,redis://***@h2 twice");
}

TEST(Redact, MasksAPasswordThatWasNotPercentEncoded) {
  EXPECT_EQ(Redact("redis://u:p@s/s,w?o#rd@h:1"), "redis://***@h:1");
}

TEST(Redact, LeavesTheRestAsItIs) {
  for (const char* text : {"", "://", "redis://h:1", "mail me@home", "a://b c@d"}) {
    EXPECT_EQ(Redact(text), text);
  }
}

}  // namespace
}  // namespace fanline::daemon
