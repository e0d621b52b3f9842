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
inline Rejection RefuseVersion(uint32_t found, uint32_t known) {
  return {"schema_version: found " + std::to_string(found) + "; this Fanline reads " +
              std::to_string(known),
          found > known};
}
inline Rejection RefuseId(const std::string& field, uint64_t found) {
  return {field + ": found " + std::to_string(found) + "; an id is 1 to 18446744073709551614"};
}

}  // namespace fanline
