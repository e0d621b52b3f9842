#include "fanline/model/headers.h"

#include <gtest/gtest.h>

#include <string>

namespace fanline {
namespace {

TEST(TravellingHeaders, ThoseOfTracingAndOurOwnTravelOn) {
  const Headers headers = {{"content-type", "application/json"},
                           {"traceparent", "00-ab-cd-01"},
                           {"baggage", "user=5"},
                           {"tracestate", "a=1"},
                           {"Traceparent", "00-ef-01-01"},
                           {"fanline-replay", "x/1/2"},
                           {"authorization", "Bearer x"},
                           {"traceparent", "twice"}};
  EXPECT_EQ(TravellingHeaders(headers), (Headers{{"traceparent", "00-ab-cd-01"},
                                                 {"tracestate", "a=1"},
                                                 {"fanline-replay", "x/1/2"},
                                                 {"traceparent", "twice"}}));
}

TEST(TravellingHeaders, WhatIsBeyondTheBoundStaysBehind) {
  const std::string name = "tracestate";
  const Headers most = {{name, std::string(kMostTravellingBytes - name.size(), 'x')}};
  EXPECT_EQ(TravellingHeaders(most), most);
  const Headers larger = {{name, std::string(kMostTravellingBytes - name.size() + 1, 'x')},
                          {"traceparent", "00-ab-cd-01"}};
  EXPECT_EQ(TravellingHeaders(larger), (Headers{{"traceparent", "00-ab-cd-01"}}));
  const Headers many(100, {"fanline-a", std::string(91, 'a')});
  EXPECT_EQ(TravellingHeaders(many).size(), 40u);
}

}  // namespace
}  // namespace fanline
