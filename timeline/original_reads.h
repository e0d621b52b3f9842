// Asks the shards for the states of originals: one request to each shard. One read at a time.
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/ports/reader_ports.h"

namespace fanline::timeline {

class OriginalReads {
 public:
  // `map` outlives it.
  explicit OriginalReads(const ShardMap& map) : map_(map) {}

  // At least one.
  std::vector<ReadOriginals> Ask(const std::vector<Original>& originals) {
    places_.clear();
    std::map<Shard, std::vector<Original>> by_shard;
    for (size_t i = 0; i < originals.size(); ++i) {
      const Shard shard = map_.ShardOf(originals[i].author);
      places_[shard].push_back(i);
      by_shard[shard].push_back(originals[i]);
    }
    states_.assign(originals.size(), std::nullopt);
    status_ = {};
    under_way_ = by_shard.size();
    std::vector<ReadOriginals> requests;
    for (auto& [shard, of] : by_shard) requests.push_back({0, shard, std::move(of)});
    return requests;
  }

  // Whether that was the last reply.
  bool On(const OriginalsRead& reply) {
    if (!reply.status.done()) status_ = reply.status;
    const std::vector<size_t>& places = places_[reply.shard];
    for (size_t i = 0; i < std::min(places.size(), reply.states.size()); ++i) {
      states_[places[i]] = reply.states[i];
    }
    return --under_way_ == 0;
  }

  // Of the last read, once all its replies are there. Not done: a shard failed.
  const Status& status() const { return status_; }
  // In the order that was asked for; nothing: nobody knows.
  std::vector<std::optional<PostState>> Take() { return std::move(states_); }

 private:
  const ShardMap& map_;
  std::map<Shard, std::vector<size_t>> places_;
  std::vector<std::optional<PostState>> states_;
  size_t under_way_ = 0;
  Status status_;
};

}  // namespace fanline::timeline
