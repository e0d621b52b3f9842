#include "feedctl/dead_letters/letter_options.h"

#include <algorithm>

#include "fanline/base/mono_now.h"
#include "feedctl/support/failure.h"

namespace fanline::feedctl {

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
