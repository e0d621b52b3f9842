// A secret from the options: its text, or the path of a file that holds it.
//
// A file is read at each use, so that a changed password holds for the next connection, however it
// was changed (a Kubernetes volume swaps a link). Nothing is kept between uses. Any thread may call
// Read.
#pragma once

#include <string>

namespace fanline {

struct Secret {
  std::string text;
  std::string file;  // path; when not empty, its content counts

  static constexpr size_t kMostBytes = 1024 * 1024;  // a bundle of authorities is a quarter of it

  bool given() const { return !text.empty() || !file.empty(); }

  // The secret as it is now, without the line end that editors append. Returns what is wrong with
  // the file, naming its path and never its content; empty if *secret was set.
  [[nodiscard]] std::string Read(std::string* secret) const;
};

}  // namespace fanline
