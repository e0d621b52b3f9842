#include "http/request_reader.h"

#include <gmock/gmock.h>

namespace fanline::http {
namespace {

using ::testing::ElementsAre;

constexpr const char* kPost = "POST /a HTTP/1.1\r\nHost: x\r\n";
constexpr const char* kChunked = "Transfer-Encoding: chunked\r\n\r\n";

// All that a connection says, cut into pieces of `piece` bytes: "method path body" of each request,
// and the status of a refusal.
std::vector<std::string> ReadAll(const std::string& text, size_t piece, const Limits& limits = {}) {
  RequestReader reader(limits);
  std::vector<std::string> out;
  std::string in;
  for (size_t at = 0; at < text.size(); at += piece) {
    in += text.substr(at, piece);
    for (;;) {
      const auto [found, taken] = reader.Read(in);
      in.erase(0, taken);
      if (found == RequestReader::Found::kMore) break;
      if (found == RequestReader::Found::kRefused) {
        out.push_back(std::to_string(reader.refusal().status));
        return out;
      }
      const Request request = reader.Take();
      out.push_back(request.method + " " + request.path + " " + request.body);
    }
  }
  return out;
}

class InPieces : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Of, InPieces, ::testing::Values(1, 2, 3, 7, 100'000));

TEST_P(InPieces, RequestsComeOutOneAfterTheOther) {
  EXPECT_THAT(ReadAll(std::string(kPost) +
                          "Content-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nHost: "
                          "x\r\n\r\n" +
                          kPost + kChunked + "2\r\nab\r\n00A;x=\"y\"\r\n0123456789\r\n0\r\n\r\n" +
                          "DELETE /c HTTP/1.1\r\nHost: x\r\n\r\n",
                      GetParam()),
              ElementsAre("POST /a hello", "GET /b ", "POST /a ab0123456789", "DELETE /c "));
}

TEST_P(InPieces, OneEmptyLineBehindABodyIsSkippedAndNoMore) {
  const std::string get = "GET /b HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_THAT(ReadAll("\r\n" + get + "\r\n" + get, GetParam()), ElementsAre("GET /b ", "GET /b "));
  EXPECT_THAT(ReadAll("\r\n\r\n" + get, GetParam()), ElementsAre("400"));
}

TEST_P(InPieces, TrailersAreDropped) {
  EXPECT_THAT(
      ReadAll(std::string(kPost) + kChunked + "1\r\na\r\n0\r\nHost: y\r\nB: c\r\n\r\n", GetParam()),
      ElementsAre("POST /a a"));
}

TEST_P(InPieces, ChunksThatCannotBeReadAreRefused) {
  for (const std::string& chunks :
       {std::string("\r\n"), std::string("g\r\n"), std::string("-1\r\n"),
        std::string("0x1\r\na\r\n"), std::string("1 \r\na\r\n"), std::string(" 1\r\na\r\n"),
        std::string("1\na\r\n"), std::string("1\r\naX\r\n"), std::string("1\r\na\n"),
        std::string("000000001\r\na\r\n"), std::string("1;a\nb\r\na\r\n0\r\n\r\n"),
        std::string("1;a\rb\r\na\r\n"), "1;" + std::string(Limits().chunk_line, 'a') + "\r\n",
        std::string("0\r\nA : b\r\n\r\n"), std::string("0\r\nno trailer\r\n\r\n"),
        std::string("0\r\n\nA: b\r\n"),
        "0\r\nA: " + std::string(Limits().trailers, 'b') + "\r\n\r\n"}) {
    EXPECT_THAT(ReadAll(kPost + (kChunked + chunks), GetParam()), ElementsAre("400")) << chunks;
  }
}

TEST_P(InPieces, ABodyOfMoreThanTheLimitIsRefusedByItsLengthOrAsItComes) {
  const Limits limits{.body = 10};
  const auto of_length = [&](size_t size) {
    return ReadAll(std::string(kPost) + "Content-Length: " + std::to_string(size) + "\r\n\r\n" +
                       std::string(size, 'b'),
                   GetParam(), limits);
  };
  EXPECT_THAT(of_length(10), ElementsAre("POST /a bbbbbbbbbb"));
  EXPECT_THAT(of_length(11), ElementsAre("413"));
  const auto chunks = [&](const std::string& text) {
    return ReadAll(kPost + (kChunked + text), GetParam(), limits);
  };
  EXPECT_THAT(chunks("6\r\nbbbbbb\r\n4\r\nbbbb\r\n0\r\n\r\n"), ElementsAre("POST /a bbbbbbbbbb"));
  EXPECT_THAT(chunks("6\r\nbbbbbb\r\n5\r\n"), ElementsAre("413"));
  EXPECT_THAT(chunks("ffffffff\r\n"), ElementsAre("413"));
}

TEST(RequestReader, NothingBehindARefusalIsRead) {
  RequestReader reader({});
  const std::string get = "GET /b HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(reader.Read("A\n").found, RequestReader::Found::kRefused);
  const auto [found, taken] = reader.Read(get);
  EXPECT_EQ(found, RequestReader::Found::kRefused);
  EXPECT_EQ(taken, 0u);
}

TEST(RequestReader, OfAnEndlessBodyOnlyTheBodyIsKept) {
  RequestReader reader({});
  const std::string head = std::string(kPost) + "Content-Length: 1000\r\n\r\n";
  EXPECT_EQ(reader.Read(head).taken, head.size());
  EXPECT_TRUE(reader.in_body());
  EXPECT_EQ(reader.Read(std::string(900, 'b')).taken, 900u);
  EXPECT_EQ(reader.Read(std::string(900, 'b')).taken, 100u);
}

TEST(RequestReader, A100IsDueOnceAndOnlyBeforeABody) {
  RequestReader reader({});
  EXPECT_FALSE(reader.TakeExpectation());
  reader.Read(std::string(kPost) + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_TRUE(reader.TakeExpectation());
  EXPECT_FALSE(reader.TakeExpectation());
  EXPECT_EQ(reader.Read("hello").found, RequestReader::Found::kRequest);
}

}  // namespace
}  // namespace fanline::http
