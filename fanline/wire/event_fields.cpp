#include "fanline/wire/event_fields.h"

namespace fanline {

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
