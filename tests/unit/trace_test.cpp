#include "fanline/model/trace.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

constexpr const char* kId = "4bf92f3577b34da6a3ce929d0e0e4736";

std::string IdIn(const std::string& traceparent) {
  return TraceIdOf({{"other", "00-"}, {"traceparent", traceparent}});
}

TEST(Trace, IsReadOffTheHeader) {
  EXPECT_EQ(IdIn(std::string("00-") + kId + "-00f067aa0ba902b7-01"), kId);
  EXPECT_EQ(IdIn(std::string("cc-") + kId + "-00f067aa0ba902b7-00-and-more"), kId);
}

TEST(Trace, IsNoneWhereTheHeaderIsNone) {
  EXPECT_EQ(TraceIdOf({}), "");
  EXPECT_EQ(TraceIdOf({{"tracestate", std::string("00-") + kId + "-00f067aa0ba902b7-01"}}), "");
  for (const std::string& bad :
       {std::string(), std::string("00-1-2-01"), std::string("00-") + kId,
        std::string("00_") + kId + "-00f067aa0ba902b7-01",
        std::string("00-") + kId + "_00f067aa0ba902b7-01",
        std::string("00-") + kId + "00f067aa0ba902b7-01",
        "00-" + std::string(32, '0') + "-00f067aa0ba902b7-01",
        std::string("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"),
        "00-\n\"" + std::string(30, 'a') + "-00f067aa0ba902b7-01"}) {
    EXPECT_EQ(IdIn(bad), "") << bad;
  }
}

}  // namespace
}  // namespace fanline
