// A secret as options tell it: the text itself, or the path of a file that holds it.
//
// A file is read at each use, so that a password that was changed there holds for the next
// connection, whoever changed it and however: a volume of Kubernetes swaps a link. Nothing is kept
// between two uses. Read may be called by any number of threads.
#pragma once

#include <string>

namespace fanline {

struct Secret {
  std::string text;
  std::string file;  // path; when not empty, its content counts

  static constexpr size_t kMostBytes = 1024 * 1024;  // a bundle of authorities is a quarter of it

  bool given() const { return !text.empty() || !file.empty(); }

  // The secret as it is now, without the line end that editors append. Answers what is wrong with
  // the file, naming its path and never its content; empty when *secret was set.
  [[nodiscard]] std::string Read(std::string* secret) const;
};

}  // namespace fanline
