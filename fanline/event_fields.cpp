#include "fanline/event_fields.h"

#include <array>

#include "fanline/item.h"

namespace fanline {
namespace {

constexpr std::array<std::pair<EventKind, const char*>, 5> kNames{{
    {EventKind::kPublished, "post.published"},
    {EventKind::kDeleted, "post.deleted"},
    {EventKind::kHidden, "post.hidden"},
    {EventKind::kUnhidden, "post.unhidden"},
    {EventKind::kEdited, "post.edited"},
}};

constexpr const char* kSendId = "an id from 1 to 18446744073709551614";

constexpr NumberField kPostId{"post_id", 1, UINT64_MAX - 1, kSendId};
constexpr NumberField kAuthorId{"author_id", 1, UINT64_MAX - 1, kSendId};
constexpr NumberField kCreatedAt{"created_at_ms", 1, static_cast<uint64_t>(kMaxCreatedAt),
                                 "milliseconds since 1970, from 1 to 9007199254740991"};
constexpr NumberField kVersion{"version", 1, UINT64_MAX,
                               "the post's own version from 1 on, growing with each change"};

}  // namespace

const NumberField kSchemaVersionField{"schema_version", kEventSchemaVersion, kEventSchemaVersion,
                                      "1, the only version this Fanline reads"};

const char* NameOf(EventKind kind) {
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  return "post.unknown";
}

std::optional<EventKind> EventKindOf(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (name == known) return kind;
  }
  return std::nullopt;
}

std::string AllEventNames() {
  std::string all;
  for (const auto& [kind, name] : kNames) all += (all.empty() ? "" : ", ") + std::string(name);
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

DecodedEvent ReadEvent(EventKind kind, const ReadNumber& read) {
  uint64_t post = 0, author = 0, last = 0;
  if (auto refused = read(kPostId, &post)) return *refused;
  if (auto refused = read(kAuthorId, &author)) return *refused;
  FeedEvent event{.kind = kind, .post = PostId{post}, .author = UserId{author}};
  if (kind == EventKind::kDeleted) return event;
  const bool published = kind == EventKind::kPublished;
  if (auto refused = read(published ? kCreatedAt : kVersion, &last)) return *refused;
  if (published) {
    event.created_at = static_cast<UnixMs>(last);
  } else {
    event.version = last;
  }
  return event;
}

}  // namespace fanline
