// The headers of dead letters (topic `<topic>.dlq`), all text. A letter keeps key, value and
// headers of its record and adds why, who and from where. Whoever appends the record again (feedctl
// dlq replay) says so in two places: in the record, which letter it was, and behind the letters, in
// a record without key and value that marks the letter as replayed. Pure; any thread.
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
// Of a record that was appended again: the LogPlace of its letter. One more each time.
inline constexpr const char* kReplayHeader = "fanline-replay";
// Of a record among the letters that is none: the LogPlace of the letter that was replayed.
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

// The record's age counts from here: its own time, or the earlier one that it carries from before
// it was set aside. A replay makes no record younger, so what refuses records that are older than
// tombstones are kept refuses their replays, too. 0: not known.
UnixMs FirstAppended(const Record& record);

}  // namespace fanline
