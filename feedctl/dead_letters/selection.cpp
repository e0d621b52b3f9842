#include "feedctl/dead_letters/selection.h"

#include <algorithm>

#include "fanline/base/mono_now.h"
#include "feedctl/support/failure.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

// `where`: the option or argument that names it.
Failure NoTopic(const std::string& where, const std::string& name,
                const std::vector<LetterTopic>& topics) {
  std::string names;
  for (const LetterTopic& topic : topics) names += (names.empty() ? "" : ", ") + topic.name;
  return Failure(kExitUsage, where + ": " + QuotedShort(name) +
                                 " is not a topic of dead letters; there are " + names);
}

}  // namespace

LetterPlaces RequirePlaces(const std::string& text, const std::vector<LetterTopic>& topics) {
  // "topic/3/17-40" is "topic/3/17" and "topic/3/40".
  const size_t dash = text.find('-', std::min(text.size(), text.rfind('/')));
  const std::string head = text.substr(0, dash);
  const auto first = ParseLogPlace(head);
  const auto last =
      dash == text.npos
          ? first
          : ParseLogPlace(head.substr(0, head.rfind('/') + 1) + text.substr(dash + 1));
  if (!first || !last || last->offset < first->offset) {
    throw Failure(kExitUsage, "<letter>: " + QuotedShort(text) +
                                  " is not a place of letters; write feed-events.dlq/3/17 or "
                                  "feed-events.dlq/3/17-40, as feedctl dlq list shows them");
  }
  const bool known = std::any_of(topics.begin(), topics.end(), [&](const LetterTopic& each) {
    return each.name == first->topic;
  });
  if (!known) throw NoTopic("<letter>", first->topic, topics);
  return {text, first->topic, first->partition, first->offset, last->offset};
}

LetterTopic RequireLetterTopic(const std::string& name, const std::vector<LetterTopic>& topics) {
  for (const LetterTopic& topic : topics) {
    if (topic.name == name || topic.source == name) return topic;
  }
  throw NoTopic("--topic", name, topics);
}

void RequireFound(const std::vector<LetterPlaces>& missing) {
  if (missing.empty()) return;
  throw Failure(kExitData, missing.front().text +
                               ": there is no dead letter, or no longer; feedctl dlq list shows "
                               "the present ones");
}

bool Selection::Takes(const Letter& letter) const {
  if (letter.set_aside < since) return false;
  if (letter.reason.find(reason) == std::string::npos) return false;
  return places.empty() || std::any_of(places.begin(), places.end(), [&](const LetterPlaces& each) {
           return each.Holds(letter.place);
         });
}

kafka::LogSpan Selection::Narrowed(const std::string& topic, kafka::LogSpan span) const {
  if (places.empty()) return span;
  int64_t first = span.to;
  for (const LetterPlaces& each : places) {
    if (each.topic == topic && each.partition == span.partition)
      first = std::min(first, each.first);
  }
  span.from = std::max(span.from, first);
  return span;
}

LetterOptions::LetterOptions(daemon::OptionTable& table, Settings& settings) : settings_(settings) {
  using namespace std::chrono_literals;
  table
      .AddPositional("letter", &places_,
                     "which, as dlq list shows them: TOPIC/PARTITION/OFFSET or ../FIRST-LAST")
      .Optional();
  table.Add("topic", &topic_, "only letters of this topic; empty is all").Unit("TOPIC");
  table.Add("reason", &reason_, "only letters whose reason has this text in it");
  table.Add("since", &since_, "only letters that were set aside within this time; 0 is all")
      .Range(0ms, 366 * 24h);
  options::AddRelationEventsTopic(table, settings.topics);
}

Selection LetterOptions::Selected() const {
  Selection selection{.topics = LetterTopics(settings_.topics), .reason = reason_};
  if (!topic_.empty()) selection.topics = {RequireLetterTopic(topic_, selection.topics)};
  for (const std::string& text : places_) {
    selection.places.push_back(RequirePlaces(text, selection.topics));
  }
  if (named()) {
    std::erase_if(selection.topics, [&](const LetterTopic& topic) {
      return std::none_of(selection.places.begin(), selection.places.end(),
                          [&](const LetterPlaces& each) { return each.topic == topic.name; });
    });
  }
  if (since_.count() > 0) selection.since = SystemNow().unix_ms - since_.count();
  return selection;
}

}  // namespace fanline::feedctl
