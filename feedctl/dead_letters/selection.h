// Which dead letters a command is about. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/kafka/tools/log_reader.h"
#include "feedctl/dead_letters/letter.h"

namespace fanline::feedctl {

// Letters `first` to `last` of a partition, as an operator writes them:
// "feed-events.dlq/3/17" or "feed-events.dlq/3/17-40".
struct LetterPlaces {
  std::string topic;
  int32_t partition = 0;
  int64_t first = 0;
  int64_t last = 0;

  [[nodiscard]] bool Holds(const LogPlace& place) const {
    return place.topic == topic && place.partition == partition && place.offset >= first &&
           place.offset <= last;
  }
};

// Failure 64 when the text is no such places, or none of `topics`.
LetterPlaces RequirePlaces(const std::string& text, const std::vector<LetterTopic>& topics);

// The topic of that name: of the letters, or of what they were. Failure 64 when there is none.
LetterTopic RequireLetterTopic(const std::string& name, const std::vector<LetterTopic>& topics);

struct Selection {
  std::vector<LetterTopic> topics;
  std::vector<LetterPlaces> places = {};  // none: all of the topics
  std::string reason = {};                // stands in the letter's reason
  UnixMs since = 0;                       // set aside then or later
  int64_t newest = 0;  // of each partition's records, marks too, so many at most; 0: all

  [[nodiscard]] bool Takes(const Letter& letter) const;
  // Of what stands in a partition, all that may matter: the letters and the marks behind them.
  [[nodiscard]] kafka::LogSpan Narrowed(const std::string& topic, kafka::LogSpan span) const;
  // Whether some of it is older than `newest` lets in.
  [[nodiscard]] bool LeavesOut(const kafka::LogSpan& span) const {
    return newest > 0 && span.to - span.from > newest;
  }
};

}  // namespace fanline::feedctl
