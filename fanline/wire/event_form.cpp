#include "fanline/wire/event_form.h"

#include <algorithm>

namespace fanline {
namespace {

// "Application/JSON; charset=utf-8" -> "application/json".
std::string MediaType(std::string_view content_type) {
  constexpr std::string_view kBlank = " \t";
  content_type = content_type.substr(0, content_type.find(';'));
  const auto first = content_type.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  content_type = content_type.substr(first, content_type.find_last_not_of(kBlank) - first + 1);
  std::string media(content_type);
  std::transform(media.begin(), media.end(), media.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return media;
}

bool SaysNothing(const std::string& media) {
  return media.empty() || media == "application/octet-stream" || media == "text/plain";
}

// No event in Protobuf starts with one of these bytes: none is the tag of a field.
bool StartsLikeJson(std::string_view value) {
  return std::string_view("{ \t\r\n").find(value.front()) != std::string_view::npos;
}

}  // namespace

std::string_view ContentTypeOf(const Record& record) {
  for (const auto& [name, value] : record.headers) {
    if (name == "content-type") return value;
  }
  return {};
}

Decoded<EventForm> FormOf(std::string_view value, std::string_view content_type) {
  if (value.empty()) return RefuseMissing("value", "an event as a JSON object or in Protobuf");
  if (value.size() > kMaxEventBytes) {
    return Refuse("value", std::to_string(value.size()) + " bytes",
                  "at most " + std::to_string(kMaxEventBytes));
  }
  const std::string media = MediaType(content_type);
  if (media == kJsonContentType) return EventForm::kJson;
  if (media == kProtoContentType || media == "application/protobuf") return EventForm::kProto;
  if (SaysNothing(media)) return StartsLikeJson(value) ? EventForm::kJson : EventForm::kProto;
  return Refuse("header content-type", Quoted(content_type),
                "application/json, application/x-protobuf or no such header");
}

const NumberField kSchemaVersionField{"schema_version", kEventSchemaVersion, kEventSchemaVersion,
                                      "1, the only version this Fanline reads"};

std::string AllOf(EventNames names) {
  std::string all;
  for (const char* name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

Rejection Refuse(std::string_view name, std::string_view found, std::string_view send) {
  return {std::string(name) + ": found " + std::string(found) + "; send " + std::string(send)};
}

Rejection RefuseMissing(std::string_view name, std::string_view send) {
  return {std::string(name) + ": missing; send " + std::string(send)};
}

std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 40;
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (unsigned char byte : text.substr(0, kMost)) {
    if (byte == '"' || byte == '\\') {
      quoted += '\\';
      quoted += static_cast<char>(byte);
    } else if (byte >= 0x20 && byte < 0x7F) {
      quoted += static_cast<char>(byte);
    } else {
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return quoted + (text.size() > kMost ? "\"..." : "\"");
}

std::optional<Rejection> CheckRange(const NumberField& field, uint64_t number) {
  if (number >= field.least && number <= field.most) return std::nullopt;
  return Refuse(field.name, std::to_string(number), field.send);
}

}  // namespace fanline
