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

class LetterReader {
 public:
  LetterReader(const Settings& settings, const Selection& selection)
      : settings_(settings),
        selection_(selection),
        reader_(options::ToOptions(settings.kafka, kClientId), kPatience) {}

  std::vector<LetterPlaces> Run(const std::function<bool(Letter)>& take) {
    std::vector<LetterPlaces> missing = selection_.places;
    const std::vector<Part> parts = Look();
    uint64_t records = 0;
    for (const Part& part : parts) records += static_cast<uint64_t>(part.span.to - part.span.from);
    Progress progress("dead letters", "records read", 2 * records);
    bool wanted = true;
    for (const Part& part : parts) {
      std::set<int64_t> marked;
      Read(part, progress, [&](const Record& record) {
        if (const auto offset = MarkedOffset(record)) marked.insert(*offset);
        return true;
      });
      Read(part, progress, [&](Record record) {
        if (MarkedOffset(record)) return true;
        Letter letter = LetterOf(part.topic, std::move(record));
        letter.replayed = marked.contains(letter.place.offset);
        if (!selection_.Takes(letter)) return true;
        std::erase_if(missing, [&](const LetterPlaces& each) { return each.Holds(letter.place); });
        wanted = take(std::move(letter));
        return wanted;
      });
      if (!wanted) break;
    }
    return missing;
  }

 private:
  std::vector<Part> Look() {
    std::vector<Part> parts;
    for (const LetterTopic& topic : selection_.topics) {
      std::vector<kafka::LogSpan> spans;
      Require(
          reader_.Look(topic.name, RequireTopic(settings_, topic.name), selection_.since, &spans),
          settings_);
      for (const kafka::LogSpan& span : spans) {
        const kafka::LogSpan narrowed = selection_.Narrowed(topic.name, span);
        if (!narrowed.empty()) parts.push_back({topic, narrowed});
      }
    }
    return parts;
  }

  void Read(const Part& part, Progress& progress, const std::function<bool(Record)>& take) {
    Require(reader_.Read(part.topic.name, part.span,
                         [&](Record record) {
                           progress.At(++read_);
                           return take(std::move(record));
                         }),
            settings_);
  }

  const Settings& settings_;
  const Selection& selection_;
  kafka::LogReader reader_;
  uint64_t read_ = 0;
};

}  // namespace

std::vector<LetterPlaces> ForEachLetter(const Settings& settings, const Selection& selection,
                                        const std::function<bool(Letter)>& take) {
  return LetterReader(settings, selection).Run(take);
}

}  // namespace fanline::feedctl
