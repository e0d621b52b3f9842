#include "feedctl/dead_letters/letter_text.h"

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

}  // namespace

std::string StateOf(const Letter& letter) {
  const std::string back =
      letter.came_back == 0 ? "" : ", came back after " + Counted(letter.came_back, "replay");
  return (letter.replayed ? "replayed" : "waiting") + back;
}

Json ToJson(const Letter& letter) {
  Json json = {{"letter", ToString(letter.place)},
               {"set_aside_ms", letter.set_aside},
               {"replayed", letter.replayed},
               {"came_back", letter.came_back},
               {"stage", letter.stage},
               {"reason", letter.reason},
               {"origin", letter.origin}};
  if (!letter.omitted.empty()) json["omitted"] = letter.omitted;
  return json;
}

std::string ShownHeader(const std::string& name, const std::string& value) {
  const bool known = name.starts_with("fanline-") || name.starts_with("ce_") ||
                     name == "content-type" || name == "traceparent" || name == "tracestate";
  return known ? OneLine(value) : "(" + Counted(value.size(), "byte") + ", not shown)";
}

std::string ShownKey(const std::string& key) {
  const bool ids = key.find_first_not_of("0123456789:") == key.npos;
  return ids ? key : "0x" + Hex(key);
}

std::string ShownBytes(std::string_view bytes) { return Hex(bytes); }

Failure NoLetter(const std::string& place) {
  return Failure(kExitData, place +
                                ": there is no dead letter, or no longer; feedctl dlq list shows "
                                "the present ones");
}

}  // namespace fanline::feedctl
