// What all events of applications have in common on the wire: JSON or binary Protobuf, told apart
// by the content-type header; without one that says (none, application/octet-stream, text/plain) by
// the first byte: '{' or white space is JSON. The payload wins over the record's key.
//
// Decoding is strict: a missing field, an id that is not a valid one, a JSON number of 2^53 or
// above (send a string), a key given twice, an unknown type or a schema_version other than ours
// is a Rejection whose reason names the field, what was found and what to send instead. Unknown
// extra fields are ignored (a newer producer may send more).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fanline/base/decoded.h"

namespace fanline {

inline constexpr uint32_t kEventSchemaVersion = 1;

// An event is about 100 bytes; what a producer adds for others is ignored but must fit too.
inline constexpr size_t kMaxEventBytes = 64 * 1024;

inline constexpr std::string_view kJsonContentType = "application/json";
inline constexpr std::string_view kProtoContentType = "application/x-protobuf";

}  // namespace fanline
