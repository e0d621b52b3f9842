#include "api/values.h"

#include "api/limits.h"

namespace fanline::api {
namespace {

constexpr size_t kMostQuoted = 40;

}  // namespace

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  quoted += text.substr(0, kMostQuoted);
  quoted += text.size() > kMostQuoted ? "...\"" : "\"";
  return quoted;
}

std::variant<UserId, Problem> ReadId(std::string_view text, std::string_view where) {
  if (const auto raw = ParseId(text)) return UserId{*raw};
  return Problem{Code::kBadId, Quoted(text) + " in " + std::string(where) +
                                   " is no user id; ids are decimal numbers from 1 to 2^64-2"};
}

std::variant<uint64_t, Problem> ReadNumber(std::string_view text, std::string_view parameter,
                                           uint64_t min, uint64_t max) {
  const auto number = ParseId(text);
  if (number && *number >= min && *number <= max) return *number;
  return Problem{Code::kBadParameter, std::string(parameter) + " is " + Quoted(text) +
                                          "; it is a whole number from " + std::to_string(min) +
                                          " to " + std::to_string(max)};
}

}  // namespace fanline::api
