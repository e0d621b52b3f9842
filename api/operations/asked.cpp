#include "api/operations/asked.h"

#include <algorithm>

#include "api/operations/bounds.h"

namespace fanline::api {
namespace {

constexpr size_t kMostQuoted = 40;

[[noreturn]] void RefuseParameter(const std::string& detail) {
  throw Refused{{Code::kBadParameter, detail}};
}

}  // namespace

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  quoted += text.substr(0, kMostQuoted);
  quoted += text.size() > kMostQuoted ? "...\"" : "\"";
  return quoted;
}

void Asked::Takes(std::initializer_list<std::string_view> parameters) const {
  const auto& given = request_.params;
  std::string there_are;
  for (const std::string_view each : parameters) {
    there_are += (there_are.empty() ? "there are " : ", ") + std::string(each);
  }
  for (const auto& parameter : given) {
    const std::string& name = parameter.first;
    if (std::find(parameters.begin(), parameters.end(), name) == parameters.end()) {
      RefuseParameter(Quoted(name) + " is no parameter of this path; " +
                      (there_are.empty() ? "it takes none" : there_are));
    }
    if (std::count_if(given.begin(), given.end(),
                      [&](const auto& other) { return other.first == name; }) > 1) {
      RefuseParameter(name + " is given twice; send it once");
    }
  }
}

EdgeKey Asked::Pair() const {
  const EdgeKey pair{User(), Id(segments_[1], "the path")};
  if (pair.src != pair.dst) return pair;
  throw Refused{{Code::kSameUser, "the path names user " + ToString(pair.src) +
                                      " twice; a relation is between two users"}};
}

const std::string* Asked::Find(std::string_view parameter) const {
  for (const auto& [given, value] : request_.params) {
    if (given == parameter) return &value;
  }
  return nullptr;
}

uint64_t Asked::Number(std::string_view parameter, uint64_t otherwise, uint64_t max) const {
  const std::string* text = Find(parameter);
  if (text == nullptr) return otherwise;
  const auto number = ParseId(*text);
  if (number && *number <= max) return *number;
  RefuseParameter(std::string(parameter) + " is " + Quoted(*text) +
                  "; it is a whole number from 1 to " + std::to_string(max));
}

uint32_t Asked::Limit() const {
  return static_cast<uint32_t>(Number("limit", kDefaultPerPage, kMostPerPage));
}

UserId Asked::Id(std::string_view text, std::string_view where) {
  if (const auto raw = ParseId(text)) return UserId{*raw};
  throw Refused{{Code::kBadId, Quoted(text) + " in " + std::string(where) +
                                   " is no user id; ids are decimal numbers from 1 to 2^64-2"}};
}

PostId Asked::Post(size_t segment) const {
  if (const auto raw = ParseId(segments_[segment])) return PostId{*raw};
  throw Refused{{Code::kBadId, Quoted(segments_[segment]) +
                                   " in the path is no post id; ids are decimal "
                                   "numbers from 1 to 2^64-2"}};
}

}  // namespace fanline::api
