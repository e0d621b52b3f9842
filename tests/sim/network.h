// The messages under way between the simulated processes and stores.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace fanline::sim {

// One call. `carry_out` changes or reads a store and returns a function that delivers the reply,
// which does nothing once the caller is gone. `fail` answers kLater instead.
struct Call {
  std::string name;  // for traces
  std::function<std::function<void()>()> carry_out;
  std::function<void()> fail;  // empty: cannot fail
  uint64_t owner = 0;          // incarnation of the calling process
  bool orphan = false;         // its caller was told kLater, or died: a captured write
  int patience = 0;            // how often it is still skipped; 0: not drawn yet
};

class Network {
 public:
  void Send(Call call) { calls_.push_back(std::move(call)); }
  bool empty() const { return calls_.empty(); }
  size_t size() const { return calls_.size(); }
  Call& at(size_t index) { return calls_[index]; }
  Call Take(size_t index) {
    Call call = std::move(calls_[index]);
    calls_[index] = std::move(calls_.back());
    calls_.pop_back();
    return call;
  }
  // The server of the calls `name` is gone with its connections: calls under way are lost, never
  // delivered to its successor.
  void Lose(const std::string& name) {
    std::vector<Call> lost;
    for (size_t index = 0; index < calls_.size();) {
      if (calls_[index].name == name) {
        lost.push_back(Take(index));
      } else {
        ++index;
      }
    }
    for (Call& call : lost) {
      if (!call.orphan && call.fail) call.fail();
    }
  }
  // The process died: nobody waits for its calls, but they are still under way.
  void Orphan(uint64_t owner) {
    for (Call& call : calls_) {
      if (call.owner == owner) call.orphan = true;
    }
  }

 private:
  std::vector<Call> calls_;
};

}  // namespace fanline::sim
