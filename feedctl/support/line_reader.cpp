#include "feedctl/support/line_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fanline::feedctl {
namespace {

constexpr size_t kReadBytes = 256 * 1024;
constexpr int kLookForStopMs = 100;
constexpr std::string_view kGzipMagic = "\x1f\x8b";

int Open(const std::string& path) {
  if (path == "-") return STDIN_FILENO;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw Failure(kExitNoInput, "cannot open " + path + ": " + std::strerror(errno));
  return fd;
}

}  // namespace

LineReader::LineReader(const std::string& path, std::function<bool()> stop)
    : name_(path == "-" ? "stdin" : path),
      stop_(std::move(stop)),
      fd_(Open(path)),
      buffer_(kReadBytes) {}

LineReader::~LineReader() {
  if (fd_ != STDIN_FILENO) close(fd_);
}

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
    if (++number_ == 1 && line->starts_with(kGzipMagic)) {
      throw Failure(kExitData, name_ + " is gzipped; pipe it through zcat and read stdin (-)");
    }
    return true;
  }
}

bool LineReader::AwaitInput() {
  while (!stopped_) {
    pollfd waiting{fd_, POLLIN, 0};
    const int ready = poll(&waiting, 1, kLookForStopMs);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;  // read will report an error
    stopped_ = stop_ && stop_();
  }
  return false;
}

// Moves the rest to the front and reads what is available after it.
bool LineReader::Fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ > kMaxLineBytes) {
    ++number_;
    throw Bad("the line is longer than " + std::to_string(kMaxLineBytes) + " bytes");
  }
  if (buffer_.size() < end_ + kReadBytes) buffer_.resize(end_ + kReadBytes);
  ssize_t got = -1;
  do {
    if (!AwaitInput()) return false;
    got = read(fd_, buffer_.data() + end_, kReadBytes);
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw Failure(kExitIo, "cannot read " + name_ + ": " + std::strerror(errno));
  end_ += static_cast<size_t>(got);
  return got > 0;
}

}  // namespace fanline::feedctl
