#include "feedctl/dead_letters/selection.h"

#include <algorithm>

#include "feedctl/support/failure.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

std::string NamesOf(const std::vector<LetterTopic>& topics) {
  std::string names;
  for (const LetterTopic& topic : topics) names += (names.empty() ? "" : ", ") + topic.name;
  return names;
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
  if (!known) {
    throw Failure(kExitUsage, "<letter>: " + QuotedShort(first->topic) +
                                  " is not a topic of dead letters; there are " + NamesOf(topics));
  }
  return {text, first->topic, first->partition, first->offset, last->offset};
}

LetterTopic RequireLetterTopic(const std::string& name, const std::vector<LetterTopic>& topics) {
  for (const LetterTopic& topic : topics) {
    if (topic.name == name || topic.source == name) return topic;
  }
  throw Failure(kExitUsage, "--topic: " + QuotedShort(name) +
                                " is not a topic of dead letters; there are " + NamesOf(topics));
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

}  // namespace fanline::feedctl
