// The headers of dead letters (topic `<topic>.dlq`), all text. A letter keeps its record's key,
// value and headers, and adds why, by whom and from where. A replay (feedctl dlq replay) leaves two
// traces: the record names its letter, and a record without key and value, behind the letters,
// marks the letter as replayed. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fanline/base/time.h"
#include "fanline/model/record.h"

namespace fanline {

inline constexpr const char* kReasonHeader = "fanline-reason";    // one line: what was wrong
inline constexpr const char* kStageHeader = "fanline-stage";      // who set it aside
inline constexpr const char* kOriginHeader = "fanline-origin";    // its record's LogPlace
inline constexpr const char* kOmittedHeader = "fanline-omitted";  // why value and key are not kept
// When the record came into its log first, in ms since 1970.
inline constexpr const char* kFirstAppendedHeader = "fanline-first-appended";
// On a record that was replayed: the LogPlace of its letter. Each replay adds one.
inline constexpr const char* kReplayHeader = "fanline-replay";
// On a mark among the letters: the LogPlace of the letter that was replayed.
inline constexpr const char* kReplayedHeader = "fanline-replayed";

std::string DeadLetterTopic(std::string_view topic);

// Where a record stands, as text "topic/partition/offset".
struct LogPlace {
  std::string topic;
  int32_t partition = 0;
  int64_t offset = 0;
  friend bool operator==(const LogPlace&, const LogPlace&) = default;
};
LogPlace PlaceOf(const Record& record);
std::string ToString(const LogPlace& place);
std::optional<LogPlace> ParseLogPlace(std::string_view text);

// The value of the record's first header of that name; none: it has none.
std::optional<std::string_view> HeaderOf(const Record& record, std::string_view name);

// The time from which the record's age counts: its own, or the earlier one it carries from before
// it was set aside. So a replay makes no record younger, and one that is older than the tombstones
// is still refused. 0: unknown.
UnixMs FirstAppended(const Record& record);

}  // namespace fanline
