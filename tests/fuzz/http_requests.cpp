// Requests out of a connection's bytes. Whatever pieces they come in, the same requests are read;
// and each ends where a gateway in front, however lenient, would find its end.
#include <cctype>
#include <tuple>

#include "fanline/base/check.h"
#include "http/request_reader.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

using namespace fanline;
using namespace fanline::http;

namespace {

constexpr Limits kLimits{.request_line = 256,
                         .head = 1024,
                         .headers = 12,
                         .body = 2048,
                         .chunk_line = 32,
                         .trailers = 128};

struct Taken {
  std::string text;  // the bytes that were read as this request
  Request request;
  bool keep_alive = true, head_only = false, says_keep_alive = false;
};

struct Connection {
  std::vector<Taken> requests;
  int refused = 0;  // a status
};

bool operator==(const Taken& a, const Taken& b) {
  const auto parts = [](const Taken& taken) {
    const Request& request = taken.request;
    return std::tie(taken.text, request.method, request.path, request.params, request.content_type,
                    request.body, request.origin, request.if_match, taken.keep_alive,
                    taken.head_only, taken.says_keep_alive);
  };
  return parts(a) == parts(b);
}

Connection ReadAll(std::string_view bytes, size_t longest_piece) {
  const size_t most_unread = std::max(kLimits.head, kLimits.trailers) + longest_piece;
  Connection connection;
  RequestReader reader(kLimits);
  std::string in, text;
  for (fuzz::Pieces pieces(bytes, longest_piece); !pieces.done();) {
    in += pieces.Next();
    for (;;) {
      const auto [found, taken] = reader.Read(in);
      text += in.substr(0, taken);
      in.erase(0, taken);
      if (found == RequestReader::Found::kMore) break;
      if (found == RequestReader::Found::kRefused) {
        connection.refused = reader.refusal().status;
        FANLINE_CHECK(connection.refused >= 400 && connection.refused < 600, "a status of errors");
        FANLINE_CHECK(reader.Read("GET / HTTP/1.1\r\nHost: x\r\n\r\n").taken == 0,
                      "no request more");
        return connection;
      }
      Taken& next = connection.requests.emplace_back();
      next.keep_alive = reader.keep_alive();
      next.head_only = reader.head_only();
      next.says_keep_alive = reader.says_keep_alive();
      next.request = reader.Take();
      next.text = std::exchange(text, {});
      FANLINE_CHECK(next.request.body.size() <= kLimits.body, "a body within the limit");
    }
    FANLINE_CHECK(in.size() <= most_unread, "what is kept of a request is bounded");
  }
  return connection;
}

std::string Trimmed(std::string_view text) {
  const auto blank = [](unsigned char c) { return c <= ' '; };
  while (!text.empty() && blank(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && blank(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  std::string low(text);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low;
}

// The chunks of a body, the plain way; what is behind the last one stays in *text.
std::string Unchunked(std::string_view* text) {
  std::string body;
  for (;;) {
    const std::string line(fuzz::TakeLine(*text));
    const size_t size = std::stoul(line, nullptr, 16);
    if (size == 0) break;
    body += text->substr(0, size);
    text->remove_prefix(size + 2);
  }
  while (fuzz::TakeLine(*text) != "\r") FANLINE_CHECK(!text->empty(), "trailers end");
  return body;
}

// Reads the framing as leniently as anything in front of us may: lines end with LF, blanks and case
// mean nothing.
void CheckFraming(const Taken& taken) {
  std::string_view rest = taken.text;
  if (rest.starts_with("\r\n")) rest.remove_prefix(2);
  fuzz::TakeLine(rest);
  std::vector<std::string> lengths, encodings;
  for (std::string_view line = fuzz::TakeLine(rest); !Trimmed(line).empty();
       line = fuzz::TakeLine(rest)) {
    const size_t colon = std::min(line.find(':'), line.size() - 1);
    const std::string name = Trimmed(line.substr(0, colon));
    if (name == "content-length") lengths.push_back(Trimmed(line.substr(colon + 1)));
    if (name == "transfer-encoding") encodings.push_back(Trimmed(line.substr(colon + 1)));
  }
  FANLINE_CHECK(lengths.size() + encodings.size() <= 1, "one way to say where a body ends");
  const std::string& body = taken.request.body;
  if (!encodings.empty()) {
    FANLINE_CHECK(encodings[0] == "chunked", "a coding that is known");
    FANLINE_CHECK(Unchunked(&rest) == body && rest.empty(), "the chunks are the body");
  } else {
    FANLINE_CHECK(rest == body, "the body is what follows the head");
    FANLINE_CHECK(std::to_string(body.size()) == (lengths.empty() ? "0" : lengths[0]) ||
                      std::stoul(lengths[0]) == body.size(),
                  "and as long as was said");
  }
}

}  // namespace

FUZZ_TARGET(http_requests) {
  const Connection whole = ReadAll(bytes, bytes.size());
  for (const size_t longest_piece : {size_t{1}, size_t{7}, size_t{300}}) {
    const Connection cut = ReadAll(bytes, longest_piece);
    FANLINE_CHECK(cut.refused == whole.refused, "the same refusal in whatever pieces");
    FANLINE_CHECK(cut.requests == whole.requests, "the same requests in whatever pieces");
  }
  for (const Taken& taken : whole.requests) {
    CheckFraming(taken);
    const Connection alone = ReadAll(taken.text, taken.text.size());
    FANLINE_CHECK(alone.requests.size() == 1 && alone.requests[0] == taken, "the same by itself");
  }
}
