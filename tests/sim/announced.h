// What relation-log was told of each change, whatever its partitions have lost since.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "fanline/wire/relation_log.h"

namespace fanline::sim {

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
