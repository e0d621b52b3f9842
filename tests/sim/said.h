// What clients requested for each edge: the model with which the rows are compared. A request made
// after another was done wins over it. Of concurrent requests, either may win.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fanline/model/edge.h"

namespace fanline::sim {

class Said {
 public:
  using Moment = uint64_t;

  Moment Now() { return ++moments_; }
  void AtOnce(const EdgeKey& edge, bool live) {
    const Moment now = Now();
    Add(edge, {now, now, live, false});
  }
  // The shard lost what was said of it last, and a reconciler may restore it above all that is said
  // meanwhile. Until the fleet is at rest nobody knows how it is.
  void Unsure(const EdgeKey& edge) { unsure_.insert(edge); }
  template <typename Live>
  void Settle(Live live) {
    for (const EdgeKey& edge : std::exchange(unsure_, {})) {
      const Moment now = Now();
      last_[edge] = {{now, now, live(edge), false}};
    }
  }
  // Two users began or ended a friendship: requested at `asked`, committed now. Of two changes of
  // one friendship the one committed later wins.
  void OfBoth(UserId one, UserId other, bool live, Moment asked) {
    const Moment now = Now();
    Add({one, other}, {asked, now, live, true});
    Add({other, one}, {asked, now, live, true});
  }

  bool MayBe(const EdgeKey& edge, bool live) const {
    if (unsure_.contains(edge)) return true;
    const auto found = last_.find(edge);
    if (found == last_.end()) return !live;  // announced a friendship that never came
    return std::any_of(found->second.begin(), found->second.end(),
                       [live](const Saying& each) { return each.live == live; });
  }
  std::vector<EdgeKey> Edges() const {
    std::vector<EdgeKey> edges;
    for (const auto& [edge, last] : last_) edges.push_back(edge);
    return edges;
  }

 private:
  struct Saying {
    Moment asked = 0, done = 0;
    bool live = false;
    bool of_both = false;
  };

  void Add(const EdgeKey& edge, const Saying& saying) {
    std::vector<Saying>& last = last_[edge];
    std::erase_if(last, [&saying](const Saying& before) {
      return before.done < saying.asked || (before.of_both && saying.of_both);
    });
    last.push_back(saying);
  }

  Moment moments_ = 0;
  std::map<EdgeKey, std::vector<Saying>> last_;
  std::set<EdgeKey> unsure_;
};

}  // namespace fanline::sim
