// The options with which the commands select dead letters.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "daemon/options/options.h"
#include "feedctl/dead_letters/selection.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

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
