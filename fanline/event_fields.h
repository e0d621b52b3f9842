// What both forms of an event share, behind event_codec.h: which fields each kind needs, their
// ranges, and how a refusal is worded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fanline/event_codec.h"

namespace fanline {

struct NumberField {
  const char* name;
  uint64_t least;
  uint64_t most;
  const char* send;  // "send ..." of the refusal
};

extern const NumberField kSchemaVersionField;

// "name: found; send ...".
Rejection Refuse(std::string_view name, std::string_view found, std::string_view send);
Rejection RefuseMissing(std::string_view name, std::string_view send);

// In double quotes, escaped to printable ASCII, at most 40 bytes of it.
std::string Quoted(std::string_view text);

// "post.published, post.deleted, ...".
std::string AllEventNames();
std::optional<EventKind> EventKindOf(std::string_view name);

// Refuses a number outside its field's range.
std::optional<Rejection> CheckRange(const NumberField& field, uint64_t number);

// Fills in `number` or says why it cannot; the form's own part of the reading.
using ReadNumber =
    std::function<std::optional<Rejection>(const NumberField& field, uint64_t* number)>;

// The event of `kind`, from exactly the fields this kind needs.
DecodedEvent ReadEvent(EventKind kind, const ReadNumber& read);

DecodedEvent DecodeEventJson(std::string_view value);
DecodedEvent DecodeEventProto(std::string_view value);

}  // namespace fanline
