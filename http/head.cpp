#include "http/head.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace fanline::http {
namespace {

// ReadHead throws it to itself: the first fault ends the reading.
using Fault = Refusal;

[[noreturn]] void Refuse(std::string detail) { throw Fault{400, std::move(detail)}; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsTokenChar(char c) {
  return IsDigit(c) || IsAlpha(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar);
}

bool Same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view Trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// The text up to the next `end`, which is taken off `rest` too; all of it when there is none.
std::string_view Next(std::string_view& rest, std::string_view end) {
  const size_t at = rest.find(end);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + end.size());
  return part;
}

std::string Decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const std::string_view digits = text.substr(i + 1, 2);
      uint8_t byte = 0;
      const char* end = digits.data() + digits.size();
      const bool hex = std::from_chars(digits.data(), end, byte, 16).ptr == end;
      if (!hex || digits.size() < 2) Refuse("a % in the query is not followed by two hex digits");
      out += static_cast<char>(byte);
      i += 2;
    }
  }
  return out;
}

// A gateway that compares texts and this server may read an escape as different paths. No id or
// name needs one.
std::string_view PlainPath(std::string_view text) {
  if (text.find('%') != std::string_view::npos) {
    Refuse("the path contains a %; every path here is written without one");
  }
  return text.empty() ? "/" : text;
}

bool IsAuthority(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return IsDigit(c) || IsAlpha(c) ||
           std::string_view("-._~%!$&'()*+;=:[]").find(c) != std::string_view::npos;
  });
}

void ReadParams(std::string_view query, Request* out) {
  while (!query.empty()) {
    std::string_view pair = Next(query, "&");
    if (pair.empty()) continue;
    const std::string_view name = Next(pair, "=");
    out->params.emplace_back(Decoded(name), Decoded(pair));
  }
}

// origin-form, absolute-form, or the asterisk of OPTIONS.
void ReadTarget(std::string_view target, Request* out) {
  if (std::any_of(target.begin(), target.end(),
                  [](char c) { return c <= 0x20 || c >= 0x7f || c == '#'; })) {
    Refuse("the target contains a byte that must be written as %XX");
  }
  if (out->method == "OPTIONS" && target == "*") {
    out->path = "*";
    return;
  }
  if (!target.starts_with('/')) {
    std::string_view rest = target;
    const std::string_view scheme = Next(rest, "://");
    if (!Same(scheme, "http") && !Same(scheme, "https")) {
      Refuse("the target is no path and no http URI");
    }
    const size_t end = std::min(rest.find_first_of("/?"), rest.size());
    if (end == 0 || !IsAuthority(rest.substr(0, end))) Refuse("the target names no host");
    target = rest.substr(end);
  }
  std::string_view query = target;
  const std::string_view path = Next(query, "?");
  out->path = PlainPath(path);
  ReadParams(query, out);
}

constexpr std::array<std::string_view, 8> kMethods = {"GET",   "HEAD",   "PUT",     "POST",
                                                      "PATCH", "DELETE", "OPTIONS", "TRACE"};

bool MayHaveBody(std::string_view method) {
  return method == "PUT" || method == "POST" || method == "PATCH" || method == "DELETE";
}

bool IsVersion(std::string_view text) {
  return text.size() == 8 && text.starts_with("HTTP/") && IsDigit(text[5]) && text[6] == '.' &&
         IsDigit(text[7]);
}

// Returns the minor version of HTTP/1.
char ReadRequestLine(std::string_view line, Request* out) {
  const std::string_view method = Next(line, " ");
  const std::string_view target = Next(line, " ");
  if (!IsToken(method) || target.empty() || !IsVersion(line)) {
    Refuse("the first line must be: method, one blank, target, one blank, HTTP/1.1");
  }
  if (line[5] != '1') throw Fault{505, "spoken here are HTTP/1.0, HTTP/1.1"};
  if (std::find(kMethods.begin(), kMethods.end(), method) == kMethods.end()) {
    throw Fault{501, "this method is not known; there are GET, HEAD, PUT, POST, PATCH, DELETE"};
  }
  out->method = method;
  ReadTarget(target, out);
  return line[7];
}

struct Field {
  std::string_view name, value;
};

std::optional<Field> FieldOf(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) return std::nullopt;
  const Field field{line.substr(0, colon), Trimmed(line.substr(colon + 1))};
  const bool clean = std::all_of(field.value.begin(), field.value.end(), [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  });
  return clean ? std::optional(field) : std::nullopt;
}

// The headers that say where a request ends, and the others that count here.
struct Fields {
  // Each header's only value; none if it was not sent. A second value is refused.
  std::optional<std::string_view> host, length, encoding, expect, content_type, content_encoding,
      origin, if_match;
  bool close = false, keep_alive = false;

  Fields(std::string_view lines, const Limits& limits) {
    size_t count = 0;
    while (!lines.empty()) {
      const std::string_view line = Next(lines, "\r\n");
      if (line.empty()) break;
      if (++count > limits.headers) {
        throw Fault{431, "at most " + std::to_string(limits.headers) + " headers are taken"};
      }
      const auto field = FieldOf(line);
      if (!field) {
        Refuse(
            "a header must be: name, colon, value, on one line and with no blank before the "
            "colon");
      }
      Keep(*field);
    }
  }

  void Keep(const Field& field) {
    const auto once = [&field](std::string_view name, std::optional<std::string_view>* kept) {
      if (!Same(field.name, name)) return;
      if (*kept) Refuse("the header " + std::string(name) + " may be sent once");
      *kept = field.value;
    };
    once("Host", &host);
    once("Content-Length", &length);
    once("Transfer-Encoding", &encoding);
    once("Expect", &expect);
    once("Content-Type", &content_type);
    once("Content-Encoding", &content_encoding);
    once("Origin", &origin);
    once("If-Match", &if_match);
    if (!Same(field.name, "Connection")) return;
    std::string_view options = field.value;
    while (!options.empty()) {
      const std::string_view option = Trimmed(Next(options, ","));
      close = close || Same(option, "close");
      keep_alive = keep_alive || Same(option, "keep-alive");
    }
  }
};

// An unknown coding is 501 (RFC 9112, 6.1). A coded body that does not end in chunks has no end
// (6.3).
void ReadEncoding(std::string_view text, Head* out) {
  out->chunked = Same(text, "chunked");
  if (out->chunked) return;
  std::string_view rest = text, last;
  bool tokens = !text.empty();
  while (!rest.empty()) {
    last = Trimmed(Next(rest, ","));
    tokens = tokens && IsToken(last) && (rest.empty() || !Same(last, "chunked"));
  }
  if (tokens) throw Fault{501, "no transfer coding but chunked is known"};
  Refuse("the Transfer-Encoding cannot be read");
}

void ReadFraming(const Fields& fields, bool http_1_0, Head* out) {
  if (fields.encoding) {
    if (fields.length) Refuse("a request has a Content-Length or a Transfer-Encoding, not both");
    if (http_1_0) Refuse("HTTP/1.0 has no Transfer-Encoding");
    ReadEncoding(*fields.encoding, out);
  }
  if (const auto& length = fields.length) {
    if (length->empty() || length->size() > 18 ||
        !std::all_of(length->begin(), length->end(), IsDigit)) {
      Refuse("the Content-Length is no number");
    }
    out->length = std::stoull(std::string(*length));
  }
  if (out->has_body() && !MayHaveBody(out->request.method)) {
    Refuse("a " + out->request.method + " has no body");
  }
}

Head Read(std::string_view text, const Limits& limits) {
  Head head;
  const bool http_1_0 = ReadRequestLine(Next(text, "\r\n"), &head.request) == '0';
  head.http_1_0 = http_1_0;
  const Fields fields(text, limits);
  if (!http_1_0 && !fields.host) Refuse("the header Host is missing");
  if (fields.host && !IsAuthority(*fields.host)) Refuse("the Host is no host");
  ReadFraming(fields, http_1_0, &head);
  head.keep_alive = http_1_0 ? fields.keep_alive && !fields.close : !fields.close;
  if (fields.expect && !http_1_0) {
    if (!Same(*fields.expect, "100-continue")) {
      throw Fault{417, "nothing can be expected but 100-continue"};
    }
    head.expects_100 = head.has_body();
  }
  if (fields.content_encoding && !Same(*fields.content_encoding, "identity")) {
    throw Fault{415, "a body is taken as it is, without a Content-Encoding"};
  }
  head.request.content_type = fields.content_type.value_or("");
  head.request.origin = fields.origin.value_or("");
  head.request.if_match = fields.if_match.value_or("");
  return head;
}

}  // namespace

std::variant<Head, Refusal> ReadHead(std::string_view text, const Limits& limits) {
  try {
    return Read(text, limits);
  } catch (Fault& fault) {
    return std::move(fault);
  }
}

bool IsFieldLine(std::string_view line) { return FieldOf(line).has_value(); }

HeadScan::Found HeadScan::Look(std::string_view bytes) {
  while (at_ < bytes.size()) {
    if (in_first_line_ && at_ >= limits_.request_line) {
      return Refuse(414,
                    "a request line is at most " + std::to_string(limits_.request_line) + " bytes");
    }
    if (at_ >= limits_.head) {
      return Refuse(431, "the headers are at most " + std::to_string(limits_.head) +
                             " bytes, with the request line");
    }
    const auto c = static_cast<unsigned char>(bytes[at_]);
    const bool after_cr = at_ > 0 && bytes[at_ - 1] == '\r';
    if (after_cr != (c == '\n')) return Refuse(400, "a line ends with CR LF and nothing else");
    if ((c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7f) {
      return Refuse(400, "this is no HTTP/1.1");
    }
    ++at_;
    if (c != '\n') continue;
    if (at_ - line_ == 2) return Found::kEnd;  // an empty line
    line_ = at_;
    in_first_line_ = false;
  }
  return Found::kMore;
}

HeadScan::Found HeadScan::Refuse(int status, std::string detail) {
  refusal_ = {status, std::move(detail)};
  return Found::kRefused;
}

}  // namespace fanline::http
