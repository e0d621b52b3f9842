// The bytes of a file or of stdin as they arrive, unpacked if they are gzip. Unlike gzread it
// returns what is available, so a producer may pipe in its events one by one.
#pragma once

#include <zlib.h>

#include <functional>
#include <string>
#include <vector>

namespace fanline::feedctl {

class ByteSource {
 public:
  // "-" is stdin. `stop` is called while there is nothing to read; true ends the input there.
  // Failure 66 when the file cannot be opened.
  ByteSource(const std::string& path, std::function<bool()> stop);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // At least one byte, at most `most` (not 0); 0: the end. Failure 74 when it cannot be read, 65
  // when the gzip is damaged or cut short.
  size_t Read(char* to, size_t most);

  const std::string& name() const { return name_; }

 private:
  enum class Form { kUnknown, kPlain, kGzip };

  bool AwaitInput();  // false: stopped
  // Appends available bytes to packed_. False: the end, or stopped.
  bool Fetch();
  void Recognize();
  size_t TakePlain(char* to, size_t most);
  size_t Unpack(char* to, size_t most);
  void BeginMember();

  const std::string name_;
  const std::function<bool()> stop_;
  const int fd_;
  std::vector<char> packed_;  // read; not yet handed on from packed_at_
  size_t packed_at_ = 0;
  Form form_ = Form::kUnknown;
  z_stream stream_{};
  bool in_member_ = false;  // a gzip file may have several members in a row
  bool stopped_ = false;
};

}  // namespace fanline::feedctl
