// How an operation reads its request, strictly. An undeclared parameter, or a value that is out of
// bounds or not in its only spelling, is refused with advice. Every function that reads throws
// Refused.
// Ids are decimal numbers in paths and queries. In JSON they are strings; integers up to 2^53-1 are
// accepted as well (above that a client's JSON library may have rounded them).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "api/operations/problem.h"
#include "fanline/model/edge.h"

namespace fanline::api {

// In quotes and shortened, for a message.
std::string Quoted(std::string_view text);

class Asked {
 public:
  // `segments`: the values of the path's braces. Both outlive it.
  Asked(const std::vector<std::string>& segments, const Request& request)
      : segments_(segments), request_(request) {}

  // Refuses a query with other parameters, or with a parameter given twice.
  void Takes(std::initializer_list<std::string_view> parameters) const;

  const std::string& Segment(size_t segment) const { return segments_[segment]; }
  UserId User() const { return Id(segments_[0], "the path"); }
  PostId Post(size_t segment = 0) const;
  // {user} and {other} of a path that names both.
  EdgeKey Pair() const;

  // nullptr: not given.
  const std::string* Find(std::string_view parameter) const;
  uint64_t Number(std::string_view parameter, uint64_t otherwise, uint64_t max) const;
  // The most entries of a page.
  uint32_t Limit() const;
  // `where` for the message: "the path", "relation_to".
  static UserId Id(std::string_view text, std::string_view where);

  const std::string& body() const { return request_.body; }
  // The header, as it came; empty: none.
  const std::string& if_match() const { return request_.if_match; }

 private:
  const std::vector<std::string>& segments_;
  const Request& request_;
};

}  // namespace fanline::api
