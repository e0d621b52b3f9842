#include "daemon/options/redact.h"

#include <algorithm>

namespace fanline::daemon {
namespace {

constexpr std::string_view kScheme = "://";

// Where the user information of a URL can end at the latest. '/', '?' and ',' do not end it: a
// password that was not percent-encoded may hold them, and masking too much is the safe side.
size_t EndOfUrl(std::string_view text, size_t begin) {
  return std::min(
      {text.find_first_of(" \t\r\n\"'<>", begin), text.find(kScheme, begin), text.size()});
}

}  // namespace

std::string Redact(std::string_view text) {
  std::string shown;
  size_t done = 0;
  for (size_t at = text.find(kScheme); at != text.npos; at = text.find(kScheme, done)) {
    const size_t authority = at + kScheme.size();
    const size_t end = EndOfUrl(text, authority);
    const size_t last_at = text.substr(authority, end - authority).rfind('@');
    shown += text.substr(done, authority - done);
    done = authority;
    if (last_at == text.npos) continue;
    shown += kMasked;
    done = authority + last_at;
  }
  shown += text.substr(done);
  return shown;
}

}  // namespace fanline::daemon
