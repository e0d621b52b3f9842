// What all events of applications have in common on the wire: JSON or binary Protobuf. The header
// content-type tells which. Where it does not (none, application/octet-stream, text/plain), the
// first byte does: '{' or white space is JSON. The payload wins over the record's key.
//
// Decoding is strict. It refuses a missing field, an invalid id, a JSON number of 2^53 or above
// (send a string), a key given twice, an unknown type and a schema_version other than ours. The
// reason of the Rejection names the field, what was found and what to send instead. Unknown extra
// fields are ignored (a newer producer may send more).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fanline/base/decoded.h"

namespace fanline {

inline constexpr uint32_t kEventSchemaVersion = 1;

// An event is about 100 bytes. Fields that a producer adds for others are ignored but must fit too.
inline constexpr size_t kMaxEventBytes = 64 * 1024;

inline constexpr std::string_view kJsonContentType = "application/json";
inline constexpr std::string_view kProtoContentType = "application/x-protobuf";

}  // namespace fanline
