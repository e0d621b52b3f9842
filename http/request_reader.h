// Reads requests out of the bytes of one connection, one after the other. Keeps no more of a
// request than the limits allow. After a refusal it reads no more requests. Pure; no clock.
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
    kMore,     // give it the bytes it did not take again, with more behind them
    kRequest,  // Take it before the next Read
    kRefused,  // for good
  };
  struct Progress {
    Found found = Found::kMore;
    size_t taken = 0;  // bytes at the front that are used up
  };
  Progress Read(std::string_view bytes);

  // Whether a request's body is still to come: the client may be waiting for a 100 (Continue).
  bool in_body() const { return part_ != Part::kHead; }
  // True once when a 100 is due.
  bool TakeExpectation();

  // Whether the request, under way or refused, is a HEAD, whose answer has no body. Known from its
  // first bytes.
  bool head_only() const { return head_only_; }
  bool keep_alive() const { return head_.keep_alive; }
  // Whether the answer must tell a client of HTTP/1.0 that the connection stays open.
  bool says_keep_alive() const { return head_.http_1_0 && head_.keep_alive; }
  Request Take();
  const Refusal& refusal() const { return refusal_; }

 private:
  enum class Part { kHead, kLength, kChunkLine, kChunk, kChunkEnd, kTrailers, kDone };

  // Each takes what it can off `bytes`. True: it refused, is done, or needs more.
  bool ReadHeadFrom(std::string_view& bytes);
  bool ReadChunkLine(std::string_view& bytes);
  bool ReadChunkEnd(std::string_view& bytes);
  bool ReadTrailers(std::string_view& bytes);
  bool Step(std::string_view& bytes);
  bool Keep(std::string_view& bytes, Part next);
  bool Refuse(int status, std::string detail);
  // Takes a line with its CR LF and returns it without them; none: more is needed, or it was
  // refused.
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
