// Behind the codecs of events: which form an event's bytes have, and what both forms share: the
// fields' ranges, the names of the kinds, and how a refusal is worded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fanline/model/record.h"
#include "fanline/wire/event_wire.h"

namespace fanline {

enum class EventForm { kJson, kProto };

// The value of the header content-type, empty when there is none.
std::string_view ContentTypeOf(const Record& record);

// `content_type` is the header's value, empty when there is none. Refuses a value that is empty or
// too long, and a content-type of neither form.
Decoded<EventForm> FormOf(std::string_view value, std::string_view content_type);

struct NumberField {
  const char* name;
  uint64_t least;
  uint64_t most;
  const char* send;  // "send ..." of the refusal
};

extern const NumberField kSchemaVersionField;

// A field that holds the id of a user or a post.
constexpr NumberField IdField(const char* name) {
  return {name, 1, UINT64_MAX - 1, "an id from 1 to 18446744073709551614"};
}

// A field that holds one of several names, and may be missing.
struct NameField {
  const char* name;
  std::span<const char* const> names;
};

// The names of one family of events; a name's index is the value of its kind.
using EventNames = std::span<const char* const>;

// "post.published, post.deleted, ...".
std::string AllOf(EventNames names);

// "name: found; send ...".
Rejection Refuse(std::string_view name, std::string_view found, std::string_view send);
Rejection RefuseMissing(std::string_view name, std::string_view send);

// In double quotes, escaped to printable ASCII, at most 40 bytes of it.
std::string Quoted(std::string_view text);

// Refuses a number outside its field's range.
std::optional<Rejection> CheckRange(const NumberField& field, uint64_t number);

// Fills in `number` or says why it cannot. Each form has its own.
using ReadNumber =
    std::function<std::optional<Rejection>(const NumberField& field, uint64_t* number)>;

}  // namespace fanline
