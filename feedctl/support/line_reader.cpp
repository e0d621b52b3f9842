#include "feedctl/support/line_reader.h"

#include <cstring>
#include <utility>

namespace fanline::feedctl {
namespace {

constexpr size_t kReadBytes = 256 * 1024;

}  // namespace

LineReader::LineReader(const std::string& path, std::function<bool()> stop)
    : source_(path, std::move(stop)), buffer_(kReadBytes) {}

bool LineReader::Next(std::string_view* line) {
  size_t searched = begin_;
  for (;;) {
    const auto* found =
        static_cast<const char*>(std::memchr(buffer_.data() + searched, '\n', end_ - searched));
    if (found == nullptr && !at_end_) {
      searched = end_ - begin_;
      at_end_ = !Fill();
      continue;
    }
    if (found == nullptr && begin_ == end_) return false;
    const size_t stop = found ? static_cast<size_t>(found - buffer_.data()) : end_;
    *line = std::string_view(buffer_.data() + begin_, stop - begin_);
    if (line->ends_with('\r')) line->remove_suffix(1);
    begin_ = found ? stop + 1 : end_;
    ++number_;
    return true;
  }
}

// Moves the rest to the front and reads more after it. False: the end.
bool LineReader::Fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ > kMaxLineBytes) {
    ++number_;
    throw Bad("the line is longer than " + std::to_string(kMaxLineBytes) + " bytes");
  }
  if (buffer_.size() < end_ + kReadBytes) buffer_.resize(end_ + kReadBytes);
  const size_t got = source_.Read(buffer_.data() + end_, kReadBytes);
  end_ += got;
  return got > 0;
}

}  // namespace fanline::feedctl
