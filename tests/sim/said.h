// What clients requested for each edge: the model with which the rows are compared. A request made
// after another was done wins over it. Of concurrent requests, either may win.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "fanline/model/edge.h"
#include "fanline/wire/relation_log.h"

namespace fanline::sim {

class Said {
 public:
  using Moment = uint64_t;

  Moment Now() { return ++moments_; }
  void AtOnce(const EdgeKey& edge, bool live) {
    const Moment now = Now();
    Add(edge, {now, now, live, false});
    Choices& choices = choices_[edge];
    choices.may_end = false;  // it settled what was announced
    if (!live) choices.may_be = {Delivery::kAll};
  }
  // Of an edge that is live.
  void Chose(const EdgeKey& edge, Delivery delivery) {
    Choices& choices = choices_[edge];
    choices.may_be = {delivery};
    if (choices.may_end) choices.may_be.insert(Delivery::kAll);
  }
  // The shard lost what was said of it last, and a reconciler may restore it above all that is said
  // meanwhile. Until the fleet is at rest nobody knows how it is.
  void Unsure(const EdgeKey& edge) { unsure_.insert(edge); }
  template <typename State>
  void Settle(State state) {
    for (const EdgeKey& edge : std::exchange(unsure_, {})) {
      const Moment now = Now();
      const EdgeState row = state(edge);
      last_[edge] = {{now, now, row.live, false}};
      choices_[edge] = {{row.delivery}, false};
    }
  }
  // Two users began or ended a friendship: requested at `asked`, committed now. Of two changes of
  // one friendship the one committed later wins.
  void OfBoth(UserId one, UserId other, bool live, Moment asked) {
    const Moment now = Now();
    Add({one, other}, {asked, now, live, true});
    Add({other, one}, {asked, now, live, true});
    if (live) return;
    for (const EdgeKey& edge : {EdgeKey{one, other}, EdgeKey{other, one}}) {
      choices_[edge].may_end = true;
      choices_[edge].may_be.insert(Delivery::kAll);
    }
  }

  bool MayBe(const EdgeKey& edge, bool live) const {
    if (unsure_.contains(edge)) return true;
    const auto found = last_.find(edge);
    if (found == last_.end()) return !live;  // announced a friendship that never came
    return std::any_of(found->second.begin(), found->second.end(),
                       [live](const Saying& each) { return each.live == live; });
  }
  bool MayBring(const EdgeKey& edge, Delivery delivery) const {
    if (unsure_.contains(edge)) return true;
    const auto found = choices_.find(edge);
    if (found == choices_.end()) return delivery == Delivery::kAll;
    return found->second.may_be.contains(delivery);
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

  // What a follow may bring. The end of a friendship resets it, at any time until a user or an
  // application says something of the edge.
  struct Choices {
    std::set<Delivery> may_be{Delivery::kAll};
    bool may_end = false;
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
  std::map<EdgeKey, Choices> choices_;
  std::set<EdgeKey> unsure_;
};

// What relation-log was told of each change, whatever its partitions have lost since.
class Announced {
 public:
  void Appended(const RelationMessage& message) {
    if (const auto* written = std::get_if<EdgeWritten>(&message)) {
      written_.emplace(written->edge.key(), written->edge.ver);
    }
  }
  // A msg2 is on its way: it may be appended at any time.
  void Sent(const RelationMessage& message) {
    const auto* mirrored = std::get_if<EdgeMirrored>(&message);
    if (mirrored == nullptr) return;
    uint64_t& highest = mirrored_[mirrored->edge];
    highest = std::max(highest, mirrored->ver);
  }

  bool Written(const EdgeKey& edge, uint64_t ver) const { return written_.contains({edge, ver}); }
  bool Mirrored(const EdgeKey& edge, uint64_t ver) const {
    const auto found = mirrored_.find(edge);
    return found != mirrored_.end() && found->second >= ver;
  }

 private:
  std::set<std::pair<EdgeKey, uint64_t>> written_;
  std::map<EdgeKey, uint64_t> mirrored_;
};

}  // namespace fanline::sim
