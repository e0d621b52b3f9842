// Reads the client library's reply tree safely, whatever shape it has.
#pragma once

#include <hiredis/hiredis.h>

#include <optional>
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

}  // namespace fanline::redis
