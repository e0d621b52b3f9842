// A dead letter as an operator meets it, and what is told about it. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/options/kafka_settings.h"
#include "fanline/model/record.h"
#include "fanline/wire/dead_letter.h"

namespace fanline::feedctl {

// What the records of a source topic are.
enum class LetterKind { kEvent, kHint, kRelation, kRetry, kRelationEvent };

struct LetterTopic {
  std::string name;    // "feed-events.dlq"
  std::string source;  // "feed-events"
  LetterKind kind = LetterKind::kEvent;
};

// All topics of dead letters that an installation has.
std::vector<LetterTopic> LetterTopics(const options::TopicSettings& topics);

struct Letter {
  LetterKind kind = LetterKind::kEvent;
  LogPlace place;
  UnixMs set_aside = 0;  // when it came among the dead letters
  std::string reason;
  std::string stage;
  std::string origin;
  std::string omitted;     // set: why key and value were not kept
  bool replayed = false;   // a mark says so
  uint32_t came_back = 0;  // how often its record had been replayed before it came here
  Record record;           // as it stands among the dead letters
};

// The letter, as yet without its mark. Texts are fit for one line of a terminal.
Letter LetterOf(const LetterTopic& topic, Record record);

// What a record among the dead letters says that is no letter: the offset of a letter of the same
// partition that was replayed. None: it is a letter.
std::optional<int64_t> MarkedOffset(const Record& record);
// The headers of such a record.
Headers MarkOf(const LogPlace& letter);

// "post.deleted post 77 of author 5"; what it is, if it is not that: "no event, 31 bytes".
std::string Summary(const Letter& letter);

// Whether Summary could be read off the value.
bool Readable(const Letter& letter);

}  // namespace fanline::feedctl
