#include "feedctl/dead_letters/letter_log.h"

#include <set>
#include <utility>

#include "backends/kafka/tools/log_reader.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/progress.h"

namespace fanline::feedctl {
namespace {

constexpr Duration kPatience = std::chrono::seconds(10);

struct Part {
  LetterTopic topic;
  kafka::LogSpan span;
};

std::vector<Part> PartsOf(const Settings& settings, const Selection& selection,
                          kafka::LogReader& reader) {
  std::vector<Part> parts;
  for (const LetterTopic& topic : selection.topics) {
    std::vector<kafka::LogSpan> spans;
    Require(reader.Look(topic.name, RequireTopic(settings, topic.name), selection.since, &spans),
            settings);
    for (const kafka::LogSpan& span : spans) {
      const kafka::LogSpan narrowed = selection.Narrowed(topic.name, span);
      if (!narrowed.empty()) parts.push_back({topic, narrowed});
    }
  }
  return parts;
}

}  // namespace

std::vector<LetterPlaces> ForEachLetter(const Settings& settings, const Selection& selection,
                                        const std::function<bool(Letter)>& take) {
  kafka::LogReader reader(options::ToOptions(settings.kafka, kClientId), kPatience);
  const std::vector<Part> parts = PartsOf(settings, selection, reader);
  uint64_t records = 0;
  for (const Part& part : parts) records += static_cast<uint64_t>(part.span.to - part.span.from);
  Progress progress("dead letters", "records read", 2 * records);
  uint64_t read = 0;
  const auto read_part = [&](const Part& part, const std::function<bool(Record)>& act) {
    const auto counted = [&](Record record) {
      progress.At(++read);
      return act(std::move(record));
    };
    Require(reader.Read(part.topic.name, part.span, counted), settings);
  };
  std::vector<LetterPlaces> missing = selection.places;
  bool wanted = true;
  for (const Part& part : parts) {
    std::set<int64_t> marked;
    read_part(part, [&](const Record& record) {
      if (const auto offset = MarkedOffset(record)) marked.insert(*offset);
      return true;
    });
    read_part(part, [&](Record record) {
      if (MarkedOffset(record)) return true;
      Letter letter = LetterOf(part.topic, std::move(record));
      letter.replayed = marked.contains(letter.place.offset);
      if (!selection.Takes(letter)) return true;
      std::erase_if(missing, [&](const LetterPlaces& each) { return each.Holds(letter.place); });
      wanted = take(std::move(letter));
      return wanted;
    });
    if (!wanted) break;
  }
  return missing;
}

}  // namespace fanline::feedctl
