// Tokens of rebuilds (Rebuild in rebuild.h): never the same twice, in this process or any other.
// Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>

namespace fanline::timeline {

class Tokens {
 public:
  Tokens() {
    std::random_device random;
    for (int i = 0; i < 4; ++i) head_ += std::to_string(random()) + "-";
  }
  std::string Next() { return head_ + std::to_string(++count_); }

 private:
  std::string head_;
  std::atomic<uint64_t> count_ = 0;
};

}  // namespace fanline::timeline
