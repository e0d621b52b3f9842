// Asks the Sentinels of a master where it is.
// When a master fails, the Sentinels elect one of them to promote a replica. A Sentinel that was
// cut off names the former master until it learns of the new one, so the word with the later
// configuration epoch counts, as among the Sentinels themselves.
// A Sentinel that hangs delays no other (survey.h). Blocking; one thread.
#pragma once

#include <functional>
#include <vector>

#include "backends/redis/cluster/survey.h"

namespace fanline::redis {

class Sentinels {
 public:
  explicit Sentinels(const Options& options);  // the seeds are the Sentinels

  struct Word {
    Endpoint master;
    uint64_t epoch = 0;
  };
  using Take = std::function<bool(const Word&)>;
  // Gives `take` one word after the other until it returns false. Those that answered last time are
  // asked first. Not done: none named a master; the Status is the last one's.
  Status AskOne(const Take& take);
  // Gives `take` the words of all. A new master needs a majority, so once most have answered, the
  // silent ones get Survey::kGrace.
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
