// A dead letter, and how it is shown: texts for a terminal, and JSON. Of a record, only ids, our
// own headers and unreadable bytes in hexadecimal are shown. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/options/kafka_settings.h"
#include "fanline/model/record.h"
#include "fanline/wire/dead_letter.h"
#include "feedctl/support/json.h"

namespace fanline::feedctl {

// The kind of a source topic's records.
enum class LetterKind { kEvent, kHint, kRelation, kRetry, kRelationEvent };

struct LetterTopic {
  std::string name;    // "feed-events.dlq"
  std::string source;  // "feed-events"
  LetterKind kind = LetterKind::kEvent;
};

// All dead letter topics of an installation.
std::vector<LetterTopic> LetterTopics(const options::TopicSettings& topics);

struct Letter {
  LetterKind kind = LetterKind::kEvent;
  std::string source;  // the topic of its record
  LogPlace place;
  UnixMs set_aside = 0;  // when it was appended to the dead letters
  std::string reason;
  std::string stage;
  std::string origin;
  std::string omitted;     // not empty: why key and value were left out
  bool replayed = false;   // there is a mark
  uint32_t came_back = 0;  // how often its record had been replayed before
  Record record;           // as in the dead letter topic
};

// The letter, still without its mark. Texts fit one line of a terminal.
Letter LetterOf(const LetterTopic& topic, Record record);

// For a mark, the offset of the replayed letter in the same partition. None: the record is a
// letter.
std::optional<int64_t> MarkedOffset(const Record& record);
// The headers of a letter's mark.
Headers MarkOf(const LogPlace& letter);

// "post.deleted post 77 of author 5"; if the value is not readable: "no event, 31 bytes".
std::string Summary(const Letter& letter);

// What the letter is, who set it aside and why. `in_full`: also its headers, its key, and the first
// 4,096 bytes of a value that nobody can read. The text is some lines.
std::string ToText(const Letter& letter, bool in_full);
Json ToJson(const Letter& letter, bool in_full);

}  // namespace fanline::feedctl
