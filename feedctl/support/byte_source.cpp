#include "feedctl/support/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fanline/base/check.h"
#include "feedctl/support/failure.h"

namespace fanline::feedctl {
namespace {

constexpr size_t kReadBytes = 256 * 1024;
constexpr int kLookForStopMs = 100;
constexpr unsigned char kGzipMagic[] = {0x1f, 0x8b};

int Open(const std::string& path) {
  if (path == "-") return STDIN_FILENO;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw Failure(kExitNoInput, "cannot open " + path + ": " + std::strerror(errno));
  return fd;
}

}  // namespace

ByteSource::ByteSource(const std::string& path, std::function<bool()> stop)
    : name_(path == "-" ? "stdin" : path), stop_(std::move(stop)), fd_(Open(path)) {
  // 16: gzip only, with its checksum verified.
  FANLINE_CHECK(inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK, "memory for zlib");
}

ByteSource::~ByteSource() {
  inflateEnd(&stream_);
  if (fd_ != STDIN_FILENO) close(fd_);
}

size_t ByteSource::Read(char* to, size_t most) {
  if (form_ == Form::kUnknown) Recognize();
  return form_ == Form::kGzip ? Unpack(to, most) : TakePlain(to, most);
}

void ByteSource::Recognize() {
  while (packed_.size() < sizeof kGzipMagic && Fetch()) continue;
  const bool gzip = packed_.size() >= sizeof kGzipMagic &&
                    std::memcmp(packed_.data(), kGzipMagic, sizeof kGzipMagic) == 0;
  form_ = gzip ? Form::kGzip : Form::kPlain;
}

bool ByteSource::AwaitInput() {
  while (!stopped_) {
    pollfd waiting{fd_, POLLIN, 0};
    const int ready = poll(&waiting, 1, kLookForStopMs);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;  // read will report an error
    stopped_ = stop_ && stop_();
  }
  return false;
}

bool ByteSource::Fetch() {
  packed_.erase(packed_.begin(), packed_.begin() + static_cast<ptrdiff_t>(packed_at_));
  packed_at_ = 0;
  const size_t had = packed_.size();
  ssize_t got = -1;
  do {
    if (!AwaitInput()) return false;
    packed_.resize(had + kReadBytes);
    got = read(fd_, packed_.data() + had, kReadBytes);
    packed_.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw Failure(kExitIo, "cannot read " + name_ + ": " + std::strerror(errno));
  return got > 0;
}

size_t ByteSource::TakePlain(char* to, size_t most) {
  if (packed_at_ == packed_.size() && !Fetch()) return 0;
  const size_t taken = std::min(most, packed_.size() - packed_at_);
  std::memcpy(to, packed_.data() + packed_at_, taken);
  packed_at_ += taken;
  return taken;
}

void ByteSource::BeginMember() {
  inflateReset(&stream_);
  in_member_ = true;
}

size_t ByteSource::Unpack(char* to, size_t most) {
  stream_.next_out = reinterpret_cast<Bytef*>(to);
  stream_.avail_out = static_cast<uInt>(most);
  while (stream_.avail_out == most) {
    if (packed_at_ == packed_.size() && !Fetch()) {
      // Otherwise a truncated gzip would look complete.
      if (in_member_ && !stopped_) throw Failure(kExitData, name_ + " is cut short");
      return 0;
    }
    if (!in_member_) BeginMember();
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data() + packed_at_);
    stream_.avail_in = static_cast<uInt>(packed_.size() - packed_at_);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    packed_at_ = packed_.size() - stream_.avail_in;
    if (result == Z_STREAM_END) {
      in_member_ = false;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      const char* what = stream_.msg != nullptr ? stream_.msg : zError(result);
      throw Failure(kExitData, name_ + " is damaged: " + what);
    }
  }
  return most - stream_.avail_out;
}

}  // namespace fanline::feedctl
