// How an operation reads its request, strictly. An undeclared parameter, or a value out of bounds
// or not in its one spelling, is refused with advice, never guessed at. Every reader throws
// Refused.
//
// Ids are decimal numbers in paths and queries; in JSON they are strings, and integers up to 2^53-1
// are taken too (beyond that a client's JSON library may have rounded them).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "api/operations/problem.h"
#include "fanline/model/edge.h"

namespace fanline::api {

// For a message: in quotes, cut when it is long.
std::string Quoted(std::string_view text);

class Asked {
 public:
  // `segments`: what stands in the path's braces. Both outlive it.
  Asked(const std::vector<std::string>& segments, const Request& request)
      : segments_(segments), request_(request) {}

  // Refuses a query with other parameters, or with one given twice.
  void Takes(std::initializer_list<std::string_view> parameters) const;

  const std::string& Segment(size_t segment) const { return segments_[segment]; }
  UserId User() const { return Id(segments_[0], "the path"); }
  PostId Post() const;
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

 private:
  const std::vector<std::string>& segments_;
  const Request& request_;
};

}  // namespace fanline::api
