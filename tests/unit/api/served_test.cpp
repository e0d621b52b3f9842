// The API behind its server, over real sockets on loopback.
#include <gmock/gmock.h>

#include "api/operations/bounds.h"
#include "http/server.h"
#include "tests/unit/api/world.h"
#include "tests/unit/http/client.h"

namespace fanline::api {
namespace {

using http::Client;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ServedTest : public ::testing::Test {
 protected:
  // The answer to one request, on a connection of its own.
  std::string Ask(std::string text) {
    const std::string host = "Host: x\r\n";
    if (const size_t at = text.find(host); at != std::string::npos) {
      text.insert(at + host.size(), "Connection: close\r\n");
    }
    const Client client(server_.port());
    client.Send(text);
    return client.ReceiveAll();
  }
  static std::string With(const std::string& line, const std::string& headers,
                          const std::string& body = {}) {
    return line + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + body;
  }

  World w_;
  http::Server server_{"127.0.0.1", 0, HttpLimits(Limits()), *w_.handler};
};

constexpr const char* kJson = "Content-Type: application/json\r\n";

TEST_F(ServedTest, ServesWhatTheHandlerAnswers) {
  const std::string answer = Ask(With("PUT /v1/users/5/following/7", ""));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(answer, HasSubstr(R"("version":"1700000000000000","delivery":"all"})"));
}

TEST_F(ServedTest, DecodesParameters) {
  EXPECT_THAT(Ask(With("GET /v1/users/5/friends?limit=%39%39%39", "")),
              HasSubstr("is \\\"999\\\""));
}

TEST_F(ServedTest, EveryRefusalIsAProblemDocumentAndCounted) {
  const std::string longest = "/v1/users/" + std::string(8'000, '1') + "/counts";
  const std::vector<std::pair<std::string, std::string>> table = {
      {With("GET /nowhere", ""), "404"},
      {With("OPTIONS *", ""), "405"},
      {With("PUT /v1/users/5/following/7", "Origin: http://evil.example\r\n"), "403"},
      {With("POST /v1/users/5/friendships/7/request", ""), "415"},
      {With("GET /v1/users/%35/counts", ""), "400"},
      {With("OPTIONS /v1/users/5/counts", ""), "405"},
      {With("TRACE /v1/users/5/counts", ""), "405"},
      {With("GET " + longest, ""), "400"},
      {With("POST " + longest, "Content-Length: 5\r\n", "abcde"), "405"},
      {With("GET /" + std::string(9'000, '1'), ""), "414"},
      {"NONSENSE\r\n\r\n", "400"},
      {With("BREW /v1/users/5/counts", ""), "501"},
      {With("GET /" + std::string(100, '1'), "A: " + std::string(16'384, 'a') + "\r\n"), "431"},
      {With("POST /v1/users/5/relations:check", "Transfer-Encoding: gzip, chunked\r\n"), "501"},
      {With("POST /v1/users/5/relations:check", "Expect: more\r\n"), "417"},
      {With("POST /v1/users/5/relations:check", "Content-Encoding: gzip\r\n"), "415"},
      {With("POST /v1/users/5/relations:check",
            "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9\r\n",
            "--x--\r\n\r\n"),
       "415"},
      {"GET /v1/users/5/counts HTTP/3.0\r\n\r\n", "505"},
      {With("POST /v1/users/5/relations:check", "Content-Length: 5\r\n", "abcde"), "415"},
      {With("POST /v1/users/5%0A/relations:check", "Content-Length: 5\r\n", "abcde"), "400"},
  };
  for (const auto& [request, status] : table) {
    const std::string answer = Ask(request);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + status)) << request.substr(0, 60);
    EXPECT_THAT(answer, HasSubstr("Content-Type: application/problem+json\r\n"));
    EXPECT_EQ(http::CountOf("Content-Type:", answer), 1u) << answer;
    EXPECT_THAT(answer, HasSubstr(R"("status":)" + status));
    EXPECT_THAT(w_.metrics.answered.back(), HasSubstr(status));
  }
  EXPECT_EQ(w_.metrics.answered.size(), table.size());
}

TEST_F(ServedTest, AnAnswerIsNotCutToARange) {
  EXPECT_THAT(Ask(With("GET /v1/users/5/counts", "Range: bytes=0-1\r\n")),
              HasSubstr(R"({"user":"5","following":0,"followers":0})"));
}

TEST_F(ServedTest, ABodyThatIsTooLargeIsRefusedHoweverItComes) {
  const std::string large(kMostBodyBytes + 1, ' ');
  const std::string length = "Content-Length: " + std::to_string(large.size()) + "\r\n";
  const std::string answer = Ask(With("POST /v1/users/5/relations:check", kJson + length, large));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(answer, HasSubstr(R"("code":"body_too_large")"));

  std::string chunks;
  for (int i = 0; i < 5; ++i) chunks += "4000\r\n" + std::string(0x4000, ' ') + "\r\n";
  EXPECT_THAT(
      Ask(With("POST /v1/users/5/relations:check",
               kJson + std::string("Transfer-Encoding: chunked\r\n"), chunks + "0\r\n\r\n")),
      StartsWith("HTTP/1.1 413"));
}

}  // namespace
}  // namespace fanline::api
