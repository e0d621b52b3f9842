// feedctl dlq show: one letter in full.
#include <cstdio>
#include <optional>

#include "daemon/observe/log.h"
#include "feedctl/commands/command.h"
#include "feedctl/dead_letters/letter_log.h"
#include "feedctl/dead_letters/letter_text.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

class DlqShow : public Command {
 public:
  DlqShow(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.AddPositional("letter", &place_,
                        "its place, as dlq list shows it: TOPIC/PARTITION/OFFSET");
    options::AddOptions(table, settings.topics);
    options::AddRelationEventsTopic(table, settings.topics);
    options::AddOptions(table, settings.kafka);
  }

  int Run(Interrupt&) override {
    const auto topics = LetterTopics(settings_.topics);
    const LetterPlaces place = RequirePlaces(place_, topics);
    RequireUsage(place.first == place.last ? "" : "<letter>: one letter is shown, not a range");
    std::optional<Letter> letter;
    ForEachLetter(settings_, {{RequireLetterTopic(place.topic, topics)}, {place}},
                  [&](Letter found) {
                    letter = std::move(found);
                    return false;
                  });
    if (!letter) throw NoLetter(place_);
    json_ ? PrintJson(*letter) : PrintText(*letter);
    return 0;
  }

 private:
  static void PrintText(const Letter& letter) {
    const auto line = [](const std::string& name, const std::string& value) {
      std::printf("%s%s\n", Left(name, 16).c_str(), value.c_str());
    };
    line("letter", ToString(letter.place));
    line("set aside", daemon::Rfc3339(letter.set_aside) + " by " + letter.stage);
    line("reason", letter.reason);
    line("origin", letter.origin + ", of " + daemon::Rfc3339(FirstAppended(letter.record)));
    line("state", StateOf(letter));
    for (const auto& [name, value] : letter.record.headers) {
      line("header", QuotedShort(name) + ": " + ShownHeader(name, value));
    }
    line("key", letter.record.key.empty() ? "none" : ShownKey(letter.record.key));
    line("value", Summary(letter));
    if (letter.omitted.empty() && !Readable(letter)) {
      line("bytes", ShownBytes(letter.record.value));
    }
  }

  static void PrintJson(const Letter& letter) {
    Json headers = Json::array();
    for (const auto& [name, value] : letter.record.headers) {
      headers.push_back({{"name", name}, {"value", ShownHeader(name, value)}});
    }
    Json json = ToJson(letter);
    json["summary"] = Summary(letter);
    json["first_appended_ms"] = FirstAppended(letter.record);
    json["headers"] = std::move(headers);
    json["key"] = ShownKey(letter.record.key);
    const bool bytes = letter.omitted.empty() && !Readable(letter);
    json["bytes"] = bytes ? Json(ShownBytes(letter.record.value)) : Json();
    PutJson(json);
  }

  std::string place_;
};

}  // namespace

extern const Row kDlqShow =
    RowOf<DlqShow>("dlq show", "shows one dead letter: why, from where, and what it holds");

}  // namespace fanline::feedctl
