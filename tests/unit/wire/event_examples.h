// Events, and the codec's results for their bytes, for the tests of both forms.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "fanline/wire/event_codec.h"
#include "tests/producers/encoders.h"

namespace fanline {

inline void PrintTo(const FeedEvent& event, std::ostream* out) { *out << EncodeEventJson(event); }

namespace testing {

inline constexpr FeedEvent kPublished{EventKind::kPublished, PostId{77}, UserId{5},
                                      1'700'000'000'000, 0};
inline constexpr FeedEvent kDeleted{EventKind::kDeleted, PostId{77}, UserId{5}, 0, 0};
inline constexpr FeedEvent kHidden{EventKind::kHidden, PostId{77}, UserId{5}, 0, 3};
inline constexpr FeedEvent kUnhidden{EventKind::kUnhidden, PostId{77}, UserId{5}, 0, 4};
inline constexpr FeedEvent kEdited{EventKind::kEdited, PostId{77}, UserId{5}, 0, 2};

inline constexpr FeedEvent kOneOfEach[] = {kPublished, kDeleted, kHidden, kUnhidden, kEdited};

// The event, or a failure that names the reason of the refusal.
inline FeedEvent Accepted(std::string_view value, std::string_view content_type = {}) {
  const auto decoded = DecodeEvent(value, content_type);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) {
    ADD_FAILURE() << "refused: " << refused->reason;
    return {};
  }
  return std::get<FeedEvent>(decoded);
}

inline std::string ReasonOf(std::string_view value, std::string_view content_type = {}) {
  const auto decoded = DecodeEvent(value, content_type);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) return refused->reason;
  ADD_FAILURE() << "accepted: " << EncodeEventJson(std::get<FeedEvent>(decoded));
  return "accepted";
}

// A good published event in JSON, with one field's value replaced; "" leaves the field out.
inline std::string PublishedWith(const std::string& field, const std::string& json) {
  std::string text = "{";
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string, std::string>>{
           {"schema_version", "1"},
           {"type", "\"post.published\""},
           {"post_id", "\"77\""},
           {"author_id", "\"5\""},
           {"created_at_ms", "1700000000000"},
           {"repost_of", ""}}) {
    const std::string& chosen = name == field ? json : value;
    if (chosen.empty()) continue;
    text += (text.size() > 1 ? "," : "") + ("\"" + name + "\":") + chosen;
  }
  return text + "}";
}

}  // namespace testing
}  // namespace fanline
