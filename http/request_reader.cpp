#include "http/request_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace fanline::http {

RequestReader::Progress RequestReader::Read(std::string_view bytes) {
  const size_t all = bytes.size();
  while (!refused_ && part_ != Part::kDone && !Step(bytes)) {
  }
  const Found found = refused_               ? Found::kRefused
                      : part_ == Part::kDone ? Found::kRequest
                                             : Found::kMore;
  return {found, all - bytes.size()};
}

bool RequestReader::Step(std::string_view& bytes) {
  switch (part_) {
    case Part::kHead:
      return ReadHeadFrom(bytes);
    case Part::kLength:
      return Keep(bytes, Part::kDone);
    case Part::kChunkLine:
      return ReadChunkLine(bytes);
    case Part::kChunk:
      return Keep(bytes, Part::kChunkEnd);
    case Part::kChunkEnd:
      return ReadChunkEnd(bytes);
    case Part::kTrailers:
      return ReadTrailers(bytes);
    case Part::kDone:
      break;
  }
  return true;
}

bool RequestReader::TakeExpectation() {
  return in_body() && std::exchange(head_.expects_100, false);
}

Request RequestReader::Take() {
  Request request = std::move(head_.request);
  part_ = Part::kHead;
  skipped_empty_line_ = false;
  head_only_ = false;
  scan_ = HeadScan(limits_);
  head_.request = {};
  return request;
}

bool RequestReader::ReadHeadFrom(std::string_view& bytes) {
  head_only_ = bytes.starts_with("HEAD ");
  switch (scan_.Look(bytes)) {
    case HeadScan::Found::kMore:
      return true;
    case HeadScan::Found::kRefused:
      return Refuse(scan_.refusal().status, scan_.refusal().detail);
    case HeadScan::Found::kEnd:
      break;
  }
  const std::string_view text = bytes.substr(0, scan_.end());
  scan_ = HeadScan(limits_);
  if (text.size() == 2) {  // old clients send an empty line behind a body (RFC 9112, 2.2)
    if (std::exchange(skipped_empty_line_, true)) return Refuse(400, "this is no HTTP/1.1");
    bytes.remove_prefix(2);
    return false;
  }
  auto head = ReadHead(text, limits_);
  if (const auto* refusal = std::get_if<Refusal>(&head)) {
    return Refuse(refusal->status, refusal->detail);
  }
  bytes.remove_prefix(text.size());
  head_ = std::move(std::get<Head>(head));
  left_ = head_.length;
  trailers_ = 0;
  if (left_ > limits_.body) return Refuse(413, {});
  part_ = head_.chunked ? Part::kChunkLine : left_ > 0 ? Part::kLength : Part::kDone;
  return false;
}

bool RequestReader::Keep(std::string_view& bytes, Part next) {
  const size_t size = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
  head_.request.body.append(bytes.substr(0, size));
  bytes.remove_prefix(size);
  left_ -= size;
  if (left_ > 0) return true;
  part_ = next;
  return false;
}

// Hex digits, then extensions, which are ignored (RFC 9112, 7.1.1).
bool RequestReader::ReadChunkLine(std::string_view& bytes) {
  const auto line = Line(bytes, limits_.chunk_line);
  if (!line) return true;
  constexpr size_t kMostDigits = 8;
  const char* begin = line->data();
  const char* end = begin + line->size();
  uint64_t size = 0;
  const auto [stop, error] = std::from_chars(begin, end, size, 16);
  const bool read = error == std::errc() && stop <= begin + kMostDigits;
  if (!read || (stop != end && *stop != ';')) return Refuse(400, "a chunk has no size");
  if (size > limits_.body - std::min(limits_.body, head_.request.body.size())) {
    return Refuse(413, {});
  }
  left_ = size;
  part_ = size == 0 ? Part::kTrailers : Part::kChunk;
  return false;
}

bool RequestReader::ReadChunkEnd(std::string_view& bytes) {
  const auto line = Line(bytes, 0);
  if (!line) return true;
  part_ = Part::kChunkLine;
  return false;
}

// Reads trailers only to find their end.
bool RequestReader::ReadTrailers(std::string_view& bytes) {
  const auto line = Line(bytes, limits_.trailers - trailers_);
  if (!line) return true;
  if (line->empty()) {
    part_ = Part::kDone;
    return false;
  }
  trailers_ += std::min(limits_.trailers - trailers_, line->size() + 2);
  if (!IsFieldLine(*line)) return Refuse(400, "a trailer cannot be read");
  return false;
}

std::optional<std::string_view> RequestReader::Line(std::string_view& bytes, size_t most) {
  const size_t end = bytes.find_first_of("\r\n");
  const size_t size = std::min(end, bytes.size());
  const bool control = std::any_of(
      bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size),
      [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
  const bool whole = end != std::string_view::npos && end + 1 < bytes.size();
  const bool bare =
      end != std::string_view::npos && (bytes[end] == '\n' || (whole && bytes[end + 1] != '\n'));
  if (size > most || control || bare) {
    Refuse(400, "the chunks of the body cannot be read");
    return std::nullopt;
  }
  if (!whole) return std::nullopt;
  const std::string_view line = bytes.substr(0, size);
  bytes.remove_prefix(size + 2);
  return line;
}

bool RequestReader::Refuse(int status, std::string detail) {
  refused_ = true;
  refusal_ = {status, std::move(detail)};
  return true;
}

}  // namespace fanline::http
