#include "fanline/base/endpoint.h"

#include "fanline/base/number.h"

namespace fanline {
namespace {

// The host without its brackets; empty if there are more of them, or if a v6 address has none: its
// port would be a guess.
std::string_view HostOf(std::string_view text) {
  const bool in_brackets = text.starts_with('[') && text.ends_with(']');
  if (in_brackets) text = text.substr(1, text.size() - 2);
  return text.find_first_of(in_brackets ? "[]" : ":[]") == text.npos ? text : std::string_view();
}

}  // namespace

std::optional<Endpoint> ParseEndpoint(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  const std::string_view host = HostOf(text.substr(0, colon));
  const auto port = ParseNumber<uint16_t>(text.substr(colon + 1));
  if (host.empty() || !port) return std::nullopt;
  return Endpoint{std::string(host), *port};
}

std::string ToString(const Endpoint& endpoint) {
  const bool v6 = endpoint.host.find(':') != endpoint.host.npos;
  const std::string host = v6 ? "[" + endpoint.host + "]" : endpoint.host;
  return host + ":" + std::to_string(endpoint.port);
}

}  // namespace fanline
