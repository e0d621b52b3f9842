#include "http/answer.h"

#include <gtest/gtest.h>

namespace fanline::http {
namespace {

Response Found() { return {200, "text/plain", "hello", {{"A", "b"}}}; }

TEST(Answer, IsTheStatusItsHeadersAndItsBody) {
  EXPECT_EQ(AnswerText(Found(), {}, 784'111'777),
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain\r\n"
            "Content-Length: 5\r\nA: b\r\n\r\nhello");
}

TEST(Answer, ToHeadSaysHowLongTheBodyWouldBe) {
  const std::string text = AnswerText(Found(), {.head_only = true}, 0);
  EXPECT_TRUE(text.find("Content-Length: 5\r\n") != std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\n\r\n"));
}

TEST(Answer, SaysWhetherTheConnectionStays) {
  const auto has = [](const AnswerForm& form, const std::string& line) {
    return AnswerText(Found(), form, 0).find(line) != std::string::npos;
  };
  EXPECT_FALSE(has({}, "Connection:"));
  EXPECT_TRUE(has({.close = true}, "Connection: close\r\n"));
  EXPECT_TRUE(has({.keep_alive = true}, "Connection: keep-alive\r\n"));
  EXPECT_FALSE(has({.close = true, .keep_alive = true}, "keep-alive"));
}

}  // namespace
}  // namespace fanline::http
