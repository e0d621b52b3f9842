// Where a master is by the word of the Sentinels that watch it.
//
// They elect among themselves who makes a replica the master when it fails. One that was cut off
// then tells of the former master until it hears of the new one: as among themselves, the word with
// the later configuration epoch holds.
//
// All are asked at once, so one that hangs delays nobody. Blocking; one thread.
#pragma once

#include <functional>
#include <vector>

#include "backends/redis/cluster/survey.h"

namespace fanline::redis {

class Sentinels {
 public:
  explicit Sentinels(const Options& options);  // whose seeds they are

  struct Word {
    Endpoint master;
    uint64_t epoch = 0;
  };
  using Take = std::function<bool(const Word&)>;
  // The word of one after the other, until `take` answers false; who answered last time is asked
  // first. Not done: none of them named a master, and what the last one said instead.
  Status AskOne(const Take& take);
  // The words of all. Once most have answered, those that are silent are waited for no longer than
  // Survey::kGrace: it takes most to make another the master.
  Status AskAll(const Take& take);

 private:
  Status Hear(const Take& take, bool most_are_enough);
  Status ReadWord(const Survey::Heard& heard, Word* word) const;
  void PutLast(const std::vector<Endpoint>& mute);

  const std::string master_;
  std::vector<Endpoint> sentinels_;
  Survey survey_;
};

}  // namespace fanline::redis
