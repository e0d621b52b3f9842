// The result of every codec (fanline/wire): the decoded value, or why the bytes are refused.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace fanline {

struct Rejection {
  // One line of printable ASCII that names the field, what was found and what belongs there:
  // "post_id: found \"007\"; send ...". What was found is shortened.
  std::string reason;
  // The bytes are sound: a message between our programs, in a version above this program's.
  bool newer = false;
};

template <class T>
using Decoded = std::variant<T, Rejection>;

// For codecs of messages between our programs.
Rejection RefuseVersion(uint32_t found, uint32_t known);
Rejection RefuseId(const std::string& field, uint64_t found);

}  // namespace fanline
