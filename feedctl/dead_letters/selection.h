// Which dead letters a command selects.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/kafka/tools/log_reader.h"
#include "feedctl/dead_letters/letter.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// Letters `first` to `last` of a partition. Operators write "feed-events.dlq/3/17" or
// "feed-events.dlq/3/17-40".
struct LetterPlaces {
  std::string text;  // as they wrote it
  std::string topic;
  int32_t partition = 0;
  int64_t first = 0;
  int64_t last = 0;

  [[nodiscard]] bool Holds(const LogPlace& place) const {
    return place.topic == topic && place.partition == partition && place.offset >= first &&
           place.offset <= last;
  }
};

// Failure 64 when the text is malformed or its topic is none of `topics`.
LetterPlaces RequirePlaces(const std::string& text, const std::vector<LetterTopic>& topics);

// Failure 65 unless letters were found at all places.
void RequireFound(const std::vector<LetterPlaces>& missing);

// The topic with that name or with that source. Failure 64 when there is none.
LetterTopic RequireLetterTopic(const std::string& name, const std::vector<LetterTopic>& topics);

struct Selection {
  std::vector<LetterTopic> topics;
  std::vector<LetterPlaces> places = {};  // empty: all of the topics
  std::string reason = {};                // is part of the letter's reason
  UnixMs since = 0;                       // set aside then or later

  [[nodiscard]] bool Takes(const Letter& letter) const;
  // The part of a partition's span to read: the letters and the marks after them.
  [[nodiscard]] kafka::LogSpan Narrowed(const std::string& topic, kafka::LogSpan span) const;
};

// The options of the commands that select.
class LetterOptions {
 public:
  // Adds <letter>, --topic, --reason, --since and --relation-events-topic. This object and
  // `settings`, which names the topics, outlive the table.
  LetterOptions(daemon::OptionTable& table, Settings& settings);

  // Failure 64.
  [[nodiscard]] Selection Selected() const;

  // Whether letters were named by their places.
  [[nodiscard]] bool named() const { return !places_.empty(); }
  // Whether anything was selected.
  [[nodiscard]] bool given() const {
    return named() || !topic_.empty() || !reason_.empty() || since_.count() > 0;
  }

 private:
  const Settings& settings_;
  std::vector<std::string> places_;
  std::string topic_;
  std::string reason_;
  std::chrono::milliseconds since_{0};
};

}  // namespace fanline::feedctl
