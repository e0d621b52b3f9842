// JSON by nlohmann's event parser: no tree is built, and a key given twice is seen. The names
// of what it calls are the library's.
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "fanline/event_fields.h"

namespace fanline {
namespace {

// The largest integer that a reader with doubles cannot have rounded.
constexpr uint64_t kMaxExactInteger = (uint64_t{1} << 53) - 1;

struct JsonValue {
  enum class Kind { kMissing, kNumber, kString, kOther } kind = Kind::kMissing;
  std::string text;  // a number's digits, a string's content, else what to call it
};

// Keeps the values of the top level's known fields; looks through everything else.
class FieldCollector {
 public:
  using Number = nlohmann::json::number_integer_t;
  using Unsigned = nlohmann::json::number_unsigned_t;

  bool null() { return Value(JsonValue::Kind::kOther, "null"); }
  bool boolean(bool truth) { return Value(JsonValue::Kind::kOther, truth ? "true" : "false"); }
  bool number_integer(Number n) { return Value(JsonValue::Kind::kNumber, std::to_string(n)); }
  bool number_unsigned(Unsigned n) { return Value(JsonValue::Kind::kNumber, std::to_string(n)); }
  bool number_float(double, const std::string& digits) {
    return Value(JsonValue::Kind::kNumber, digits);
  }
  bool string(std::string& text) { return Value(JsonValue::Kind::kString, text); }
  bool binary(std::vector<uint8_t>&) { return false; }  // never called for JSON text

  bool start_object(size_t) {
    if (depth_ > 0) Value(JsonValue::Kind::kOther, "an object");
    ++depth_;
    return true;
  }
  bool start_array(size_t) {
    if (depth_ == 0) return Fail(Refuse("value", "an array", kSendObject));
    Value(JsonValue::Kind::kOther, "an array");
    ++depth_;
    return true;
  }
  bool end_object() { return --depth_, true; }
  bool end_array() { return --depth_, true; }

  bool key(std::string& name) {
    if (depth_ != 1) return true;
    if (!seen_.insert(name).second) {
      return Fail(Rejection{"key " + Quoted(name) + ": found twice; send each key once"});
    }
    key_ = name;
    return true;
  }

  template <class Error>
  bool parse_error(size_t position, const std::string&, const Error&) {
    return Fail(Refuse("value", "no JSON at byte " + std::to_string(position), kSendObject));
  }

  const std::optional<Rejection>& refused() const { return refused_; }
  const JsonValue& operator[](std::string_view name) const {
    for (size_t i = 0; i < kKnown.size(); ++i) {
      if (kKnown[i] == name) return values_[i];
    }
    static const JsonValue missing;
    return missing;
  }

 private:
  static constexpr std::string_view kSendObject = "one JSON object, in UTF-8, of at most 64 KiB";
  static constexpr std::array<std::string_view, 6> kKnown{
      "schema_version", "type", "post_id", "author_id", "created_at_ms", "version"};

  bool Value(JsonValue::Kind kind, const std::string& text) {
    if (depth_ == 0) {
      return Fail(
          Refuse("value", kind == JsonValue::Kind::kString ? Quoted(text) : text, kSendObject));
    }
    if (depth_ > 1) return true;
    for (size_t i = 0; i < kKnown.size(); ++i) {
      if (kKnown[i] == key_) values_[i] = {kind, text};
    }
    return true;
  }
  bool Fail(Rejection why) {
    refused_ = std::move(why);
    return false;
  }

  size_t depth_ = 0;
  std::string key_;
  std::set<std::string> seen_;
  std::array<JsonValue, kKnown.size()> values_;
  std::optional<Rejection> refused_;
};

// The one decimal spelling of a number: no sign, leading zero, blank, point or exponent.
std::optional<uint64_t> ParseDecimal(const std::string& text) {
  if (text.empty() || (text.front() == '0' && text.size() > 1)) return std::nullopt;
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

// At most as many digits as a reader can use; a number can be as long as the message.
std::string Shortened(const std::string& digits) {
  return digits.size() <= 40 ? digits : digits.substr(0, 40) + "...";
}

std::optional<Rejection> ReadJsonNumber(const JsonValue& value, const NumberField& field,
                                        uint64_t* number) {
  if (value.kind == JsonValue::Kind::kMissing) return RefuseMissing(field.name, field.send);
  if (value.kind == JsonValue::Kind::kOther) return Refuse(field.name, value.text, field.send);
  const bool string = value.kind == JsonValue::Kind::kString;
  const std::string found = string ? Quoted(value.text) : Shortened(value.text);
  const auto parsed = ParseDecimal(value.text);
  if (!parsed) return Refuse(field.name, found, std::string(field.send) + ", in plain digits");
  if (!string && *parsed > kMaxExactInteger) {
    return Refuse(field.name, "the number " + found + ", which may have been rounded on its way",
                  "numbers of 2^53 and above as a string of digits");
  }
  if (*parsed < field.least || *parsed > field.most) return Refuse(field.name, found, field.send);
  *number = *parsed;
  return std::nullopt;
}

}  // namespace

DecodedEvent DecodeEventJson(std::string_view value) {
  FieldCollector fields;
  nlohmann::json::sax_parse(value.begin(), value.end(), &fields);
  if (fields.refused()) return *fields.refused();

  // The version first: of a newer one the rest may mean something else.
  uint64_t version = 0;
  if (auto refused = ReadJsonNumber(fields["schema_version"], kSchemaVersionField, &version)) {
    return *refused;
  }
  const JsonValue& type = fields["type"];
  if (type.kind == JsonValue::Kind::kMissing) {
    return RefuseMissing("type", "one of " + AllEventNames());
  }
  const bool string = type.kind == JsonValue::Kind::kString;
  const auto kind = string ? EventKindOf(type.text) : std::nullopt;
  if (!kind) {
    return Refuse("type", string ? Quoted(type.text) : Shortened(type.text),
                  "one of " + AllEventNames());
  }
  return ReadEvent(*kind, [&](const NumberField& field, uint64_t* number) {
    return ReadJsonNumber(fields[field.name], field, number);
  });
}

std::string EncodeEventJson(const FeedEvent& event) {
  std::string json = "{\"schema_version\":" + std::to_string(kEventSchemaVersion) + ",\"type\":\"" +
                     NameOf(event.kind) + "\",\"post_id\":\"" + ToString(event.post) +
                     "\",\"author_id\":\"" + ToString(event.author) + '"';
  if (event.kind == EventKind::kPublished) {
    json += ",\"created_at_ms\":" + std::to_string(event.created_at);
  } else if (event.kind != EventKind::kDeleted) {
    // A string above 2^53, as we ask of others.
    const char* quote = event.version > kMaxExactInteger ? "\"" : "";
    json += std::string(",\"version\":") + quote + std::to_string(event.version) + quote;
  }
  return json + '}';
}

}  // namespace fanline
