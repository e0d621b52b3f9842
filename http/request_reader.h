// Requests out of the bytes of one connection, one after the other. Bounded: of what does not make
// a request within the limits nothing is kept. Behind a refusal no byte is ever read as a request.
// Pure; no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/head.h"
#include "http/limits.h"
#include "http/message.h"

namespace fanline::http {

class RequestReader {
 public:
  explicit RequestReader(const Limits& limits) : limits_(limits), scan_(limits) {}

  enum class Found {
    kMore,     // all bytes were looked at; those not taken must be there again, with more
    kRequest,  // Take it before the next Read
    kRefused,  // for good
  };
  struct Progress {
    Found found = Found::kMore;
    size_t taken = 0;  // bytes off the front, which are done with
  };
  Progress Read(std::string_view bytes);

  // A request whose body is still to come: the client may be waiting for a 100 (Continue).
  bool in_body() const { return part_ != Part::kHead; }
  // Once true: a 100 is due, and will not be asked for again.
  bool TakeExpectation();

  // Whether the request under way, or refused, asks for an answer without its body (HEAD); its
  // first bytes say so, however much of it came.
  bool head_only() const { return head_only_; }
  bool keep_alive() const { return head_.keep_alive; }
  // A client of HTTP/1.0 that stays connected is to be told that it may.
  bool says_keep_alive() const { return head_.http_1_0 && head_.keep_alive; }
  Request Take();
  const Refusal& refusal() const { return refusal_; }

 private:
  enum class Part { kHead, kLength, kChunkLine, kChunk, kChunkEnd, kTrailers, kDone };

  // Each takes what it can off `bytes` and answers whether there is nothing more to be done with
  // the rest yet.
  bool ReadHeadFrom(std::string_view& bytes);
  bool ReadLength(std::string_view& bytes);
  bool ReadChunkLine(std::string_view& bytes);
  bool ReadChunk(std::string_view& bytes);
  bool ReadChunkEnd(std::string_view& bytes);
  bool ReadTrailers(std::string_view& bytes);
  bool Step(std::string_view& bytes);
  bool Keep(std::string_view& bytes, Part next);
  bool Refuse(int status, std::string detail);
  // A line and its CR LF, without them; nothing: more is needed, or it was refused.
  std::optional<std::string_view> Line(std::string_view& bytes, size_t most);

  const Limits limits_;
  Part part_ = Part::kHead;
  bool refused_ = false;
  bool skipped_empty_line_ = false;
  bool head_only_ = false;
  HeadScan scan_;
  Head head_;
  uint64_t left_ = 0;  // bytes of the body, or of the chunk
  size_t trailers_ = 0;
  Refusal refusal_;
};

}  // namespace fanline::http
