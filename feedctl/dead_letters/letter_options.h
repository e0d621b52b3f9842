// The options with which the commands select dead letters.
#pragma once

#include <chrono>
#include <string>

#include "daemon/options/options.h"
#include "feedctl/dead_letters/selection.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

class LetterOptions {
 public:
  // Adds --topic, --reason, --since and --relation-events-topic. This object and `settings`, which
  // names the topics, outlive the table.
  LetterOptions(daemon::OptionTable& table, Settings& settings);

  // `places`: as on the command line; empty: all. Failure 64.
  [[nodiscard]] Selection Selected(const std::vector<std::string>& places = {}) const;

  // Whether --topic, --reason or --since was given.
  [[nodiscard]] bool given() const {
    return !topic_.empty() || !reason_.empty() || since_.count() > 0;
  }

 private:
  const Settings& settings_;
  std::string topic_;
  std::string reason_;
  std::chrono::milliseconds since_{0};
};

}  // namespace fanline::feedctl
