// Reads the client library's reply tree safely, whatever shape it has.
#pragma once

#include <hiredis/hiredis.h>

#include <optional>
#include <string>
#include <string_view>

namespace fanline::redis {

inline bool IsError(const redisReply& reply) { return reply.type == REDIS_REPLY_ERROR; }
inline bool IsArray(const redisReply& reply, size_t at_least) {
  return reply.type == REDIS_REPLY_ARRAY && reply.elements >= at_least;
}
inline const redisReply& At(const redisReply& array, size_t i) { return *array.element[i]; }

// Empty when the reply is not text.
inline std::string_view Text(const redisReply& reply) {
  const bool text = reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS ||
                    reply.type == REDIS_REPLY_ERROR;
  return text ? std::string_view(reply.str, reply.len) : std::string_view();
}

inline std::optional<int64_t> Integer(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_INTEGER) return std::nullopt;
  return reply.integer;
}

// A page of SCAN or ZSCAN: the next cursor, and each of its elements. False: it is no page.
template <class OnElement>
[[nodiscard]] bool ReadScanned(const redisReply& page, std::string* cursor, OnElement on_element) {
  if (!IsArray(page, 2) || At(page, 1).type != REDIS_REPLY_ARRAY) return false;
  *cursor = Text(At(page, 0));
  const redisReply& elements = At(page, 1);
  for (size_t i = 0; i < elements.elements; ++i) on_element(Text(At(elements, i)));
  return true;
}

}  // namespace fanline::redis
