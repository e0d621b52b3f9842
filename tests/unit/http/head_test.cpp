#include "http/head.h"

#include <gmock/gmock.h>

namespace fanline::http {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// The status of a refusal; 0: it is read.
int StatusOf(const std::string& head) {
  const auto read = ReadHead(head, {});
  const auto* refusal = std::get_if<Refusal>(&read);
  return refusal == nullptr ? 0 : refusal->status;
}

Head Read(const std::string& head) {
  auto read = ReadHead(head, {});
  const auto* refusal = std::get_if<Refusal>(&read);
  EXPECT_EQ(refusal, nullptr) << head << refusal->detail;
  return refusal == nullptr ? std::move(std::get<Head>(read)) : Head();
}

Head Get(const std::string& target) {
  return Read("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
}

int GetStatus(const std::string& target) {
  return StatusOf("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
}

int PostStatus(const std::string& headers) {
  return StatusOf("POST / HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
}

TEST(Head, AQueryIsDecodedOnce) {
  const Head head = Get("/a?b=%31&c=x+y&d&&=e&f=%2541");
  EXPECT_EQ(head.request.path, "/a");
  EXPECT_THAT(head.request.params, ElementsAre(Pair("b", "1"), Pair("c", "x y"), Pair("d", ""),
                                               Pair("", "e"), Pair("f", "%41")));
}

TEST(Head, APathIsWrittenInOneWayOnly) {
  EXPECT_EQ(Get("/v1/users/5/timeline:count+x").request.path, "/v1/users/5/timeline:count+x");
  for (const char* path : {"/v1/users/%35/counts", "/v1/users/5/timeline%3Acount", "/%63ounts",
                           "/a%2fb", "/a%00", "/a%", "/a%4g", "http://x/%61"}) {
    EXPECT_EQ(GetStatus(path), 400) << path;
  }
}

TEST(Head, TheOriginIsKeptAndMayBeSentOnce) {
  EXPECT_EQ(Get("/").request.origin, "");
  const std::string head = "PUT / HTTP/1.1\r\nHost: x\r\nORIGIN: https://a.example\r\n";
  EXPECT_EQ(Read(head + "\r\n").request.origin, "https://a.example");
  EXPECT_EQ(StatusOf(head + "Origin: https://b.example\r\n\r\n"), 400);
}

TEST(Head, AConditionIsKeptAsItCameAndMayBeSentOnce) {
  EXPECT_EQ(Get("/").request.if_match, "");
  const std::string head = "PUT / HTTP/1.1\r\nHost: x\r\nif-match:  \"7\"\r\n";
  EXPECT_EQ(Read(head + "\r\n").request.if_match, "\"7\"");
  EXPECT_EQ(StatusOf(head + "If-Match: \"8\"\r\n\r\n"), 400);
}

TEST(Head, AnAbsoluteTargetIsItsPath) {
  EXPECT_EQ(Get("http://example.org:80/a/b?c=1").request.path, "/a/b");
  EXPECT_EQ(Get("HTTP://example.org").request.path, "/");
  EXPECT_THAT(Get("http://example.org?c=1").request.params, ElementsAre(Pair("c", "1")));
}

TEST(Head, WhatIsNoTargetIsRefused) {
  for (const char* target : {"a", "*", "http:///a", "ftp://x/a", "x://", "/a#b", "/a?%", "/a?%4",
                             "/a?%4g", "/\x80", "http://a@b/", "http://a b/"}) {
    EXPECT_EQ(GetStatus(target), 400) << target;
  }
  EXPECT_EQ(StatusOf("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
}

TEST(Head, TheFirstLineHasThreePartsAndSingleBlanks) {
  for (const char* line :
       {"GET / HTTP/1.1 ", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET\t/ HTTP/1.1",
        " GET / HTTP/1.1", "GET /", "GET / http/1.1", "GET / HTTP/1.10", "GET / HTTP/1",
        "G@T / HTTP/1.1", "GET /a b HTTP/1.1", ""}) {
    EXPECT_EQ(StatusOf(std::string(line) + "\r\nHost: x\r\n\r\n"), 400) << line;
  }
}

TEST(Head, AnotherVersionIs505AndAnotherMethod501) {
  EXPECT_EQ(StatusOf("PRI * HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(StatusOf("GET / HTTP/0.9\r\nHost: x\r\n\r\n"), 505);
  EXPECT_EQ(StatusOf("GET / HTTP/1.2\r\nHost: x\r\n\r\n"), 0);
  EXPECT_EQ(StatusOf("BREW / HTTP/1.1\r\nHost: x\r\n\r\n"), 501);
  EXPECT_EQ(StatusOf("get / HTTP/1.1\r\nHost: x\r\n\r\n"), 501);
  EXPECT_EQ(StatusOf("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"), 501);
}

TEST(Head, OneHostIsNeededExceptInHttp10) {
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: x, y\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: x/y\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nhost: [::1]:80\r\n\r\n"), 0);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"), 400);
}

TEST(Head, AHeaderIsNameColonValueOnOneLine) {
  for (const char* line : {"A : b", "A\t: b", " A: b", "\tb", "A", ": b", "A b: c", "A\x01: b"}) {
    EXPECT_EQ(PostStatus(std::string(line) + "\r\n"), 400) << line;
  }
  EXPECT_EQ(PostStatus("A:\r\nB:c\r\nC: \t d \t\r\nD: \xc3\xa4\r\n"), 0);
  EXPECT_EQ(PostStatus("A: b\r\n c\r\n"), 400);
  EXPECT_EQ(PostStatus("A: b\r\n\tc\r\n"), 400);
}

TEST(Head, OneLengthOrChunksSayWhereABodyEnds) {
  const auto post = [](const std::string& headers) {
    return Read("POST / HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
  };
  EXPECT_FALSE(post("").has_body());
  EXPECT_FALSE(post("Content-Length: 0\r\n").has_body());
  EXPECT_EQ(post("content-length:12\r\n").length, 12u);
  EXPECT_TRUE(post("Transfer-Encoding: Chunked\r\n").chunked);
}

TEST(Head, TwoWaysToSayItAreRefused) {
  for (const char* headers :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 5\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"}) {
    EXPECT_EQ(PostStatus(headers), 400) << headers;
  }
}

TEST(Head, WhatLooksLikeALengthOrLikeChunksAndIsNotIsRefused) {
  for (const char* headers :
       {"Content-Length : 71\r\n", "Content-Length:\r\n 71\r\n", "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n", "Content-Length:\r\n", "Content-Length: -1\r\n",
        "Content-Length: +5\r\n", "Content-Length: 5 5\r\n", "Content-Length: 0x5\r\n",
        "Content-Length: 9999999999999999999\r\n", "Transfer-Encoding:\r\n",
        "Transfer-Encoding: \x0b"
        "chunked\r\n",
        "Transfer-Encoding: \"chunked\"\r\n"}) {
    EXPECT_EQ(PostStatus(headers), 400) << headers;
  }
  EXPECT_EQ(PostStatus("Transfer-Encoding: gzip, chunked\r\n"), 501);
  EXPECT_EQ(PostStatus("Transfer-Encoding: gzip\r\n"), 501);
  EXPECT_EQ(PostStatus("Transfer-Encoding: xchunked\r\n"), 501);
  EXPECT_EQ(StatusOf("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(Head, ABodyWhereThereIsNoneIsRefused) {
  for (const char* method : {"GET", "HEAD", "OPTIONS", "TRACE"}) {
    const std::string line = std::string(method) + " / HTTP/1.1\r\nHost: x\r\n";
    EXPECT_EQ(StatusOf(line + "Content-Length: 5\r\n\r\n"), 400) << method;
    EXPECT_EQ(StatusOf(line + "Transfer-Encoding: chunked\r\n\r\n"), 400) << method;
    EXPECT_EQ(StatusOf(line + "Content-Length: 0\r\n\r\n"), 0) << method;
  }
}

TEST(Head, AConnectionStaysAsItsVersionAndItsHeaderSay) {
  const auto stays = [](const std::string& version, const std::string& headers) {
    return Read("GET / " + version + "\r\nHost: x\r\n" + headers + "\r\n").keep_alive;
  };
  EXPECT_TRUE(stays("HTTP/1.1", ""));
  EXPECT_FALSE(stays("HTTP/1.1", "Connection: x, Close\r\n"));
  EXPECT_FALSE(stays("HTTP/1.0", ""));
  EXPECT_TRUE(stays("HTTP/1.0", "Connection: Keep-Alive\r\n"));
  EXPECT_FALSE(stays("HTTP/1.0", "Connection: keep-alive\r\nConnection: close\r\n"));
}

TEST(Head, NothingIsExpectedBut100) {
  const auto expect = [](const std::string& what, const std::string& version = "HTTP/1.1") {
    return ReadHead(
        "POST / " + version + "\r\nHost: x\r\nContent-Length: 5\r\nExpect: " + what + "\r\n\r\n",
        {});
  };
  EXPECT_TRUE(std::get<Head>(expect("100-Continue")).expects_100);
  EXPECT_FALSE(std::get<Head>(expect("100-continue", "HTTP/1.0")).expects_100);
  EXPECT_EQ(std::get<Refusal>(expect("200-ok")).status, 417);
  EXPECT_FALSE(Read("GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n").expects_100);
}

TEST(Head, ACodedBodyIsRefused) {
  EXPECT_EQ(PostStatus("Content-Encoding: gzip\r\n"), 415);
  EXPECT_EQ(PostStatus("Content-Encoding: identity\r\n"), 0);
}

TEST(Head, HeadersAreCounted) {
  std::string headers;
  for (size_t i = 1; i < Limits().headers; ++i) headers += "A: b\r\n";  // and Host
  EXPECT_EQ(PostStatus(headers), 0);
  EXPECT_EQ(PostStatus(headers + "A: b\r\n"), 431);
}

// The end of a head, looked for byte by byte.
HeadScan::Found Scan(HeadScan& scan, const std::string& text) {
  auto found = HeadScan::Found::kMore;
  for (size_t size = 1; size <= text.size() && found == HeadScan::Found::kMore; ++size) {
    found = scan.Look(std::string_view(text).substr(0, size));
  }
  return found;
}

TEST(HeadScan, FindsTheEmptyLine) {
  HeadScan scan({});
  const std::string head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(Scan(scan, head + "POST"), HeadScan::Found::kEnd);
  EXPECT_EQ(scan.end(), head.size());
}

TEST(HeadScan, RefusesAByteThatHasNoPlaceInAHead) {
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\n"), std::string("GET / HTTP/1.1\rHost"),
        std::string("GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n"), std::string("GET /\0", 6),
        std::string("\x16\x03\x01"), std::string("GET / HTTP/1.1\r\nA: \x7f\r\n"),
        std::string("GET / HTTP/1.1\r\r\n")}) {
    HeadScan scan({});
    EXPECT_EQ(Scan(scan, text), HeadScan::Found::kRefused) << text;
    EXPECT_EQ(scan.refusal().status, 400) << text;
  }
}

TEST(HeadScan, RefusesWhatIsTooLongBeforeItEnds) {
  const Limits limits;
  HeadScan line(limits);
  EXPECT_EQ(Scan(line, std::string(limits.request_line, 'a')), HeadScan::Found::kMore);
  EXPECT_EQ(line.Look(std::string(limits.request_line + 1, 'a')), HeadScan::Found::kRefused);
  EXPECT_EQ(line.refusal().status, 414);

  HeadScan head(limits);
  std::string text = "GET / HTTP/1.1\r\n";
  text.resize(limits.head, 'a');
  EXPECT_EQ(Scan(head, text), HeadScan::Found::kMore);
  EXPECT_EQ(head.Look(text + "a"), HeadScan::Found::kRefused);
  EXPECT_EQ(head.refusal().status, 431);
}

}  // namespace
}  // namespace fanline::http
