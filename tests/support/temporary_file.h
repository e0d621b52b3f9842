// A file of a test, gone with the object.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace fanline {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    close(mkstemp(path_.data()));
    Write(content);
  }
  ~TemporaryFile() { Remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void Write(const std::string& content) const { std::ofstream(path_) << content; }
  void Remove() const { unlink(path_.c_str()); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_ = ::testing::TempDir() + "fanline-XXXXXX";
};

}  // namespace fanline
