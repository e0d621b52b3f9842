// How every codec of this folder answers: with what the bytes say, or with why it refuses them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace fanline {

struct Rejection {
  // One line of printable ASCII that names the field, what was found and what belongs there:
  // "post_id: found \"007\"; send ...". What was found is shortened.
  std::string reason;
  // Nothing is wrong with the bytes: they are a message between programs of ours, of a version
  // above this program's.
  bool newer = false;
};

template <class T>
using Decoded = std::variant<T, Rejection>;

// For the codecs of what our own programs send each other.
Rejection RefuseVersion(uint32_t found, uint32_t known);
Rejection RefuseId(const std::string& field, uint64_t found);

}  // namespace fanline
