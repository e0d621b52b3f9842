// Switches authors between push and pull by what their posts cost (mode_rule.h). A switch names the
// version of the mode it was decided on. So one of several switches takes effect, however late or
// from whichever dispatcher, and none overrides what was set since. A lost switch is decided again
// with the author's next event. Nothing waits for a switch; it holds for posts whose rows are made
// after it. Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "dispatcher/metrics.h"
#include "dispatcher/mode_rule.h"
#include "fanline/ports/port.h"
#include "fanline/ports/post_store.h"

namespace fanline::dispatcher {

class ModeSwitches {
 public:
  // `ids` gives request ids; it and `metrics` outlive this object.
  ModeSwitches(Port<SwitchAuthor> posts, Metrics& metrics, const ModeRule& rule, uint64_t& ids)
      : posts_(posts), metrics_(metrics), rule_(rule), ids_(ids) {}

  // Takes the author's mode, as read with an event, and submits the switch that it calls for.
  void Consider(Shard shard, UserId author, const AuthorMode& mode) {
    const auto decided = Decide(rule_, mode);
    if (!decided || under_way_.size() >= kMostUnderWay || !authors_.insert(author).second) return;
    under_way_.emplace(++ids_, Switch{author, *decided, mode.weight});
    posts_.Submit({ids_, shard, author, decided->pull, mode.version});
  }
  void On(const AuthorSwitched& reply) {
    const auto answered = under_way_.extract(reply.id);
    if (answered.empty()) return;
    const Switch& was = answered.mapped();
    authors_.erase(was.author);
    if (reply.status.done() && reply.switched) {
      metrics_.AuthorSwitched(was.author, was.decided, was.weight);
    }
  }

 private:
  static constexpr size_t kMostUnderWay = 64;

  struct Switch {
    UserId author{};
    ModeSwitch decided;
    AuthorWeight weight;
  };

  const Port<SwitchAuthor> posts_;
  Metrics& metrics_;
  const ModeRule rule_;
  uint64_t& ids_;
  std::map<uint64_t, Switch> under_way_;  // by request
  std::set<UserId> authors_;              // of these
};

}  // namespace fanline::dispatcher
