#include "feedctl/dead_letters/letter_text.h"

#include <string_view>

#include "daemon/observe/log.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr size_t kMostBytes = 4096;

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
bool ShowsBytes(const Letter& letter) { return letter.omitted.empty() && !Readable(letter); }

}  // namespace

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
