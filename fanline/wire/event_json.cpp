// JSON by nlohmann's event (SAX) parser, which builds no tree and shows a key given twice. The
// library names the functions that it calls.
#include "fanline/wire/event_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "fanline/base/check.h"
#include "fanline/base/number.h"

namespace fanline {
namespace {

// The largest integer that a reader with doubles cannot have rounded.
constexpr uint64_t kMaxExactInteger = (uint64_t{1} << 53) - 1;

using Kind = JsonEvent::Value::Kind;
constexpr const char* kObject = "an object";

// As many digits as a reader can use: a number can be as long as the message.
std::string Shortened(const std::string& digits) {
  return digits.size() <= 40 ? digits : digits.substr(0, 40) + "...";
}

// Keeps the values of the known fields, of the top level and of objects there; looks through
// everything else.
class FieldCollector {
 public:
  FieldCollector(const std::vector<std::string_view>& known, std::vector<JsonEvent::Value>* values)
      : known_(known), values_(*values) {}

  using Number = nlohmann::json::number_integer_t;
  using Unsigned = nlohmann::json::number_unsigned_t;

  bool null() { return Value(Kind::kOther, "null"); }
  bool boolean(bool truth) { return Value(Kind::kOther, truth ? "true" : "false"); }
  bool number_integer(Number n) { return Value(Kind::kNumber, std::to_string(n)); }
  bool number_unsigned(Unsigned n) { return Value(Kind::kNumber, std::to_string(n)); }
  bool number_float(double, const std::string& digits) { return Value(Kind::kNumber, digits); }
  bool string(std::string& text) { return Value(Kind::kString, text); }
  bool binary(std::vector<uint8_t>&) { return false; }  // never called for JSON text

  bool start_object(size_t) {
    if (depth_ > 0) Value(Kind::kOther, kObject);
    if (depth_ == 1) inside_ = key_ + ".";
    ++depth_;
    return true;
  }
  bool start_array(size_t) {
    if (depth_ == 0) return Fail(Refuse("value", "an array", kSendObject));
    Value(Kind::kOther, "an array");
    ++depth_;
    return true;
  }
  bool end_object() {
    if (--depth_ == 1) inside_.clear();
    return true;
  }
  bool end_array() { return --depth_, true; }

  bool key(std::string& name) {
    if (depth_ > 2 || (depth_ == 2 && !IsKnownInside())) return true;
    key_ = depth_ == 1 ? name : inside_ + name;
    if (!seen_.emplace(depth_, key_).second) {
      return Fail(Rejection{"key " + Quoted(key_) + ": found twice; send each key once"});
    }
    return true;
  }

  template <class Error>
  bool parse_error(size_t position, const std::string&, const Error&) {
    return Fail(Refuse("value", "no JSON at byte " + std::to_string(position), kSendObject));
  }

  const std::optional<Rejection>& refused() const { return refused_; }

 private:
  static constexpr std::string_view kSendObject = "one JSON object, in UTF-8, of at most 64 KiB";

  bool Value(Kind kind, const std::string& text) {
    if (depth_ == 0) {
      return Fail(
          Refuse("value", kind == Kind::kString ? Quoted(text) : Shortened(text), kSendObject));
    }
    if (depth_ > 2 || (depth_ == 2 && !IsKnownInside())) return true;
    for (size_t i = 0; i < known_.size(); ++i) {
      // A name with a dot is no field of the top level.
      const bool inside = known_[i].find('.') != std::string_view::npos;
      if (known_[i] == key_ && inside == (depth_ == 2)) values_[i] = {kind, text};
    }
    return true;
  }
  // Whether this is an object with fields that are known.
  bool IsKnownInside() const {
    return !inside_.empty() && std::any_of(known_.begin(), known_.end(), [&](std::string_view one) {
      return one.starts_with(inside_);
    });
  }
  bool Fail(Rejection why) {
    refused_ = std::move(why);
    return false;
  }

  const std::vector<std::string_view>& known_;
  std::vector<JsonEvent::Value>& values_;
  size_t depth_ = 0;
  std::string key_;
  std::string inside_;                             // "name." in the object of this name
  std::set<std::pair<size_t, std::string>> seen_;  // by depth
  std::optional<Rejection> refused_;
};

// The one decimal spelling of a number: no sign, leading zero, blank, point or exponent.
std::optional<uint64_t> ParseDecimal(const std::string& text) {
  if (text.empty() || (text.front() == '0' && text.size() > 1)) return std::nullopt;
  return ParseNumber<uint64_t>(text);
}

}  // namespace

JsonEvent::JsonEvent(std::initializer_list<std::string_view> fields)
    : known_{kSchemaVersionField.name, "type"} {
  known_.insert(known_.end(), fields);
  values_.resize(known_.size());
}

std::optional<Rejection> JsonEvent::Open(std::string_view value, EventNames names, size_t* kind) {
  FieldCollector collector(known_, &values_);
  nlohmann::json::sax_parse(value.begin(), value.end(), &collector);
  if (collector.refused()) return collector.refused();

  // The version first: in a newer version the rest may mean something else.
  uint64_t version = 0;
  if (auto refused = Read(kSchemaVersionField, &version)) return refused;
  std::optional<size_t> type;
  if (auto refused = Read(NameField{"type", names}, &type)) return refused;
  if (!type) return RefuseMissing("type", "one of " + AllOf(names));
  *kind = *type;
  return std::nullopt;
}

std::optional<Rejection> JsonEvent::Read(const NameField& field,
                                         std::optional<size_t>* index) const {
  const Value& value = Find(field.name);
  if (value.kind == Kind::kMissing) return std::nullopt;
  const bool string = value.kind == Kind::kString;
  const auto found =
      std::find(field.names.begin(), field.names.end(), std::string_view(value.text));
  if (!string || found == field.names.end()) {
    return Refuse(field.name, string ? Quoted(value.text) : Shortened(value.text),
                  "one of " + AllOf(field.names));
  }
  *index = static_cast<size_t>(found - field.names.begin());
  return std::nullopt;
}

const JsonEvent::Value& JsonEvent::Find(std::string_view name) const {
  const auto found = std::find(known_.begin(), known_.end(), name);
  FANLINE_CHECK(found != known_.end(), "a field that was not named at first");
  return values_[static_cast<size_t>(found - known_.begin())];
}

std::optional<Rejection> JsonEvent::Read(const NumberField& field, uint64_t* number) const {
  const Value& value = Find(field.name);
  if (value.kind == Kind::kMissing) return RefuseMissing(field.name, field.send);
  if (value.kind == Kind::kOther) return Refuse(field.name, value.text, field.send);
  const bool string = value.kind == Kind::kString;
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

std::optional<Rejection> JsonEvent::ReadObject(const char* field, std::string_view send,
                                               bool* there) const {
  const Value& value = Find(field);
  *there = value.kind != Kind::kMissing;
  if (!*there || (value.kind == Kind::kOther && value.text == kObject)) return std::nullopt;
  const bool string = value.kind == Kind::kString;
  return Refuse(field, string ? Quoted(value.text) : Shortened(value.text), send);
}

JsonText::JsonText(const char* type)
    : text_("{\"schema_version\":" + std::to_string(kEventSchemaVersion) + ",\"type\":\"" + type +
            '"') {}

JsonText& JsonText::Id(const char* name, uint64_t id) { return Member(name, id, "\""); }

JsonText& JsonText::Number(const char* name, uint64_t number) {
  // A string above 2^53, as we ask of others.
  return Member(name, number, number > kMaxExactInteger ? "\"" : "");
}

JsonText& JsonText::Name(const char* name, const char* value) {
  text_ += std::string(",\"") + name + "\":\"" + value + '"';
  return *this;
}

JsonText& JsonText::Object(const char* name, const JsonText& members) {
  text_ += std::string(",\"") + name + "\":{" + members.text_.substr(1) + '}';
  return *this;
}

JsonText& JsonText::Member(const char* name, uint64_t number, const char* quote) {
  text_ += std::string(",\"") + name + "\":" + quote + std::to_string(number) + quote;
  return *this;
}

}  // namespace fanline
