// The JSON form of any event, behind the codecs: one object whose members are numbers, and the type
// as a name.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fanline/wire/event_form.h"

namespace fanline {

// Reads one event.
class JsonEvent {
 public:
  // Keeps `fields`, besides schema_version and type. "a.b" is field b of the object in field a.
  // Their texts outlive this object.
  explicit JsonEvent(std::initializer_list<std::string_view> fields);

  // Call it first, and once. *kind: the index of the type in `names`.
  [[nodiscard]] std::optional<Rejection> Open(std::string_view value, EventNames names,
                                              size_t* kind);
  // Reads one of `fields`.
  [[nodiscard]] std::optional<Rejection> Read(const NumberField& field, uint64_t* number) const;
  // *index: of the name in `field.names`; it stays as it is if the field is missing.
  [[nodiscard]] std::optional<Rejection> Read(const NameField& field,
                                              std::optional<size_t>* index) const;

  // Whether there is an object in `field`, one of `fields`. Refuses everything else there.
  [[nodiscard]] std::optional<Rejection> ReadObject(const char* field, std::string_view send,
                                                    bool* there) const;

  struct Value {
    enum class Kind { kMissing, kNumber, kString, kOther } kind = Kind::kMissing;
    std::string text;  // a number's digits, a string's content, else what to call it
  };

 private:
  const Value& Find(std::string_view name) const;

  std::vector<std::string_view> known_;
  std::vector<Value> values_;  // of known_, in its order
};

// Writes one event: JsonText("post.deleted").Id("post_id", 7).Take().
class JsonText {
 public:
  explicit JsonText(const char* type);
  JsonText() = default;                                 // the members of an object alone
  JsonText& Id(const char* name, uint64_t id);          // always a string
  JsonText& Number(const char* name, uint64_t number);  // a string only where it must be one
  JsonText& Name(const char* name, const char* value);  // of letters and underscores
  JsonText& Object(const char* name, const JsonText& members);  // that has at least one
  std::string Take() { return std::move(text_) + '}'; }

 private:
  JsonText& Member(const char* name, uint64_t number, const char* quote);

  std::string text_;
};

}  // namespace fanline
