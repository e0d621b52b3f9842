#include "feedctl/dead_letters/letter.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "daemon/observe/log.h"
#include "fanline/model/hint.h"
#include "fanline/wire/event_codec.h"
#include "fanline/wire/event_form.h"
#include "fanline/wire/relation_event.h"
#include "fanline/wire/relation_log.h"
#include "fanline/wire/relation_retry.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr size_t kMostBytes = 4096;

std::string Edge(const EdgeKey& edge) { return ToString(edge.src) + " -> " + ToString(edge.dst); }

std::string Version(uint64_t version) { return ", version " + std::to_string(version); }

std::string Told(const FeedEvent& event) {
  const std::string text = std::string(NameOf(event.kind)) + " post " + ToString(event.post) +
                           " of author " + ToString(event.author);
  switch (TraitsOf(event.kind).number) {
    case EventNumber::kNone:
      break;
    case EventNumber::kCreatedAt:
      return text + ", created " + daemon::Rfc3339(event.created_at) + ShownText(event.repost_of);
    case EventNumber::kVersion:
      return text + Version(event.version);
  }
  return text;
}

std::string Told(const Hint& hint) {
  const auto* sync = std::get_if<Hint::Sync>(&hint.what);
  return sync != nullptr
             ? "hint: reader " + ToString(sync->reader) + ", author " + ToString(hint.author)
             : "hint: post " + ToString(std::get<Hint::Post>(hint.what).post) + " of author " +
                   ToString(hint.author);
}

std::string Told(const RelationMessage& message) {
  if (const auto* written = std::get_if<EdgeWritten>(&message)) {
    return Edge(written->edge.key()) + (written->edge.live ? " follows" : " ended") +
           DeliveryText(written->edge.delivery) + Version(written->edge.ver);
  }
  const auto& mirrored = std::get<EdgeMirrored>(message);
  return Edge(mirrored.edge) + " mirrored" + Version(mirrored.ver);
}

std::string Told(const RelationRetry& retry) {
  return "check of " + Edge(retry.edge) + Version(retry.claim.state.ver);
}

std::string Told(const RelationEvent& event) {
  return std::string(event.kind == RelationEventKind::kFollow ? "relation.follow "
                                                              : "relation.unfollow ") +
         Edge(event.edge) +
         (event.delivery ? std::string(", delivery ") + NameOf(*event.delivery) : "") +
         Version(event.version);
}

template <typename T>
std::optional<std::string> ToldOf(const Decoded<T>& decoded) {
  const T* value = std::get_if<T>(&decoded);
  return value == nullptr ? std::nullopt : std::optional(Told(*value));
}

struct Kind {
  const char* name;
  std::optional<std::string> (*read)(const Record& record);
};

// By LetterKind.
constexpr Kind kKinds[] = {
    {"event",
     [](const Record& record) { return ToldOf(DecodeEvent(record.value, ContentTypeOf(record))); }},
    {"hint", [](const Record& record) { return ToldOf(DecodeHint(record.value)); }},
    {"message about a relation",
     [](const Record& record) { return ToldOf(DecodeRelationMessage(record.value)); }},
    {"entry of the retries",
     [](const Record& record) { return ToldOf(DecodeRelationRetry(record.value)); }},
    {"relation event",
     [](const Record& record) {
       return ToldOf(DecodeRelationEvent(record.value, ContentTypeOf(record)));
     }},
};

static_assert(std::size(kKinds) == static_cast<size_t>(LetterKind::kRelationEvent) + 1);

const Kind& KindOf(const Letter& letter) { return kKinds[static_cast<size_t>(letter.kind)]; }

std::optional<std::string> Read(const Letter& letter) { return KindOf(letter).read(letter.record); }

std::string Hex(std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes.substr(0, kMostBytes)) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text + (bytes.size() > kMostBytes ? "..." : "");
}

// "waiting" or "replayed", and how often the record came back.
std::string StateOf(const Letter& letter) {
  const std::string back =
      letter.came_back == 0 ? "" : ", came back after " + Counted(letter.came_back, "replay");
  return (letter.replayed ? "replayed" : "waiting") + back;
}

// Headers of other programs may be confidential, so only their size is shown.
std::string ShownHeader(const std::string& name, const std::string& value) {
  const bool known = name.starts_with("fanline-") || name.starts_with("ce_") ||
                     name == "content-type" || name == "traceparent" || name == "tracestate";
  return known ? OneLine(value) : "(" + Counted(value.size(), "byte") + ", not shown)";
}

// Our keys are ids; any other key is shown in hexadecimal.
std::string ShownKey(const std::string& key) {
  const bool ids = key.find_first_not_of("0123456789:") == key.npos;
  return ids ? key : "0x" + Hex(key);
}

// Whether the value is there, and its bytes say more than the summary.
bool ShowsBytes(const Letter& letter) { return letter.omitted.empty() && !Read(letter); }

}  // namespace

std::vector<LetterTopic> LetterTopics(const options::TopicSettings& topics) {
  std::vector<LetterTopic> all;
  const auto add = [&all](const std::string& source, LetterKind kind) {
    all.push_back({DeadLetterTopic(source), source, kind});
  };
  add(topics.feed, LetterKind::kEvent);
  add(topics.tasks, LetterKind::kHint);
  add(kRelationLogTopic, LetterKind::kRelation);
  add(kRelationRetryTopic, LetterKind::kRetry);
  add(topics.relation_events, LetterKind::kRelationEvent);
  return all;
}

Letter LetterOf(const LetterTopic& topic, Record record) {
  const auto text = [&](const char* name) { return OneLine(HeaderOf(record, name).value_or("")); };
  Letter letter{.kind = topic.kind,
                .source = topic.source,
                .place = PlaceOf(record),
                .set_aside = record.timestamp,
                .reason = text(kReasonHeader),
                .stage = text(kStageHeader),
                .origin = text(kOriginHeader),
                .omitted = text(kOmittedHeader)};
  letter.came_back = static_cast<uint32_t>(
      std::count_if(record.headers.begin(), record.headers.end(),
                    [](const auto& header) { return header.first == kReplayHeader; }));
  letter.record = std::move(record);
  return letter;
}

std::optional<int64_t> MarkedOffset(const Record& record) {
  if (HeaderOf(record, kOriginHeader)) return std::nullopt;  // a letter, whatever its other headers
  const auto text = HeaderOf(record, kReplayedHeader);
  const auto place = text ? ParseLogPlace(*text) : std::nullopt;
  if (!place || place->topic != record.topic || place->partition != record.partition) {
    return std::nullopt;
  }
  return place->offset;
}

Headers MarkOf(const LogPlace& letter) { return {{kReplayedHeader, ToString(letter)}}; }

std::string Summary(const Letter& letter) {
  if (!letter.omitted.empty()) return "not kept: " + letter.omitted;
  const auto told = Read(letter);
  return told ? *told
              : std::string("no ") + KindOf(letter).name + ", " +
                    Counted(letter.record.value.size(), "byte");
}

std::string ToText(const Letter& letter, bool in_full) {
  std::string text = Left(ToString(letter.place), 26) + daemon::Rfc3339(letter.set_aside) + "  " +
                     StateOf(letter) + "\n";
  const auto line = [&text](const std::string& what) { text += "    " + what + "\n"; };
  line(Summary(letter));
  line(letter.stage + ", at " + letter.origin + ": " + letter.reason);
  if (!in_full) return text;
  line("first appended " + daemon::Rfc3339(FirstAppended(letter.record)));
  for (const auto& [name, value] : letter.record.headers) {
    line("header " + QuotedShort(name) + ": " + ShownHeader(name, value));
  }
  line("key " + (letter.record.key.empty() ? "none" : ShownKey(letter.record.key)));
  if (ShowsBytes(letter)) line("bytes " + Hex(letter.record.value));
  return text;
}

Json ToJson(const Letter& letter, bool in_full) {
  Json json = {{"letter", ToString(letter.place)},
               {"set_aside_ms", letter.set_aside},
               {"replayed", letter.replayed},
               {"came_back", letter.came_back},
               {"stage", letter.stage},
               {"reason", letter.reason},
               {"origin", letter.origin}};
  if (!letter.omitted.empty()) json["omitted"] = letter.omitted;
  json["summary"] = Summary(letter);
  if (!in_full) return json;
  json["first_appended_ms"] = FirstAppended(letter.record);
  json["headers"] = Json::array();
  for (const auto& [name, value] : letter.record.headers) {
    json["headers"].push_back({{"name", name}, {"value", ShownHeader(name, value)}});
  }
  json["key"] = ShownKey(letter.record.key);
  json["bytes"] = ShowsBytes(letter) ? Json(Hex(letter.record.value)) : Json();
  return json;
}

}  // namespace fanline::feedctl
