// The server over a real connection: it answers what http_requests reads out of the same bytes, all
// of it, in order, and nothing more.
#include "http/server.h"

#include "fanline/base/check.h"
#include "http/request_reader.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"
#include "tests/unit/http/client.h"

using namespace fanline;
using namespace fanline::http;

namespace {

constexpr size_t kLongestPiece = 2'000;

// No time runs out, however slow the machine: a client that is cut off may never see its answer.
constexpr std::chrono::minutes kForEver{10};
constexpr Limits kLimits{.head_time = kForEver,
                         .body_time = kForEver,
                         .write_time = kForEver,
                         .idle_time = kForEver,
                         .linger_time = kForEver,
                         .threads = 2};

std::string EchoOf(const Request& request) {
  return request.method + " " + request.path + " " + request.body;
}

class Echo : public Service {
 public:
  void Serve(Request request, Answer answer) override {
    answer({200, "text/plain", EchoOf(request), {}});
  }
  Response Refuse(int status, const std::string&) override {
    return {status, "text/plain", "", {}};
  }
};

// Takes one answer off `said`, after a 100 (Continue), which comes or not by how the bytes arrive.
void ExpectAnswer(std::string_view& said, int status, const std::string& body, bool head_only) {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  while (said.starts_with(kContinue)) said.remove_prefix(kContinue.size());
  const size_t end = said.find("\r\n\r\n");
  FANLINE_CHECK(end != said.npos, "an answer to every request");
  const std::string_view head = said.substr(0, end);
  FANLINE_CHECK(head.starts_with("HTTP/1.1 " + std::to_string(status) + " "),
                "the answer's status");
  const std::string length = "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  FANLINE_CHECK(
      head.find(length) != head.npos || head.ends_with(length.substr(0, length.size() - 2)),
      "the answer's length");
  said.remove_prefix(end + 4);
  if (head_only) return;
  FANLINE_CHECK(said.starts_with(body), "the answer's body");
  said.remove_prefix(body.size());
}

void ExpectAnswersTo(std::string_view bytes, std::string_view said) {
  RequestReader reader({});
  std::string in(bytes);
  for (;;) {
    const auto [found, taken] = reader.Read(in);
    in.erase(0, taken);
    if (found == RequestReader::Found::kMore) break;
    const bool head_only = reader.head_only();
    if (found == RequestReader::Found::kRefused) {
      ExpectAnswer(said, reader.refusal().status, "", head_only);
      break;
    }
    const bool last = !reader.keep_alive();
    ExpectAnswer(said, 200, EchoOf(reader.Take()), head_only);
    if (last) break;
  }
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  FANLINE_CHECK(said.empty() || said == kContinue, "no answer to what was not asked");
}

}  // namespace

FUZZ_TARGET(http_server) {
  static Echo echo;
  static Server server("127.0.0.1", 0, kLimits, echo);
  const Client client(server.port());
  FANLINE_CHECK(client.connected(), "a client is let in");
  for (fuzz::Pieces pieces(bytes, kLongestPiece); !pieces.done();) {
    if (!client.Send(std::string(pieces.Next()))) break;
  }
  client.SendNoMore();
  ExpectAnswersTo(bytes, client.ReceiveAll());
}
