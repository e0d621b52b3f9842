// Where a master is by the word of the Sentinels that watch it.
//
// They elect among themselves who makes a replica the master when it fails. One that was cut off
// then tells of the former master until it hears of the new one: as among themselves, the word with
// the later configuration epoch holds.
//
// Blocking; one thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backends/redis/client/blocking_connection.h"

namespace fanline::redis {

class Sentinels {
 public:
  explicit Sentinels(const Options& options);  // whose seeds they are
  ~Sentinels();

  struct Word {
    Endpoint master;
    uint64_t epoch = 0;
  };
  // The word of one after the other, until `take` answers false; who answered last time is asked
  // first. Not done: none of them named a master, and what the last one said instead.
  Status Ask(const std::function<bool(const Word&)>& take);

 private:
  Status AskOne(BlockingConnection& sentinel, Word* word);

  struct Sentinel {
    Endpoint address;
    std::unique_ptr<BlockingConnection> connection;
  };
  const std::string master_;
  std::vector<Sentinel> sentinels_;
};

}  // namespace fanline::redis
