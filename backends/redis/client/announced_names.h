// The host names that nodes of a Cluster announce (cluster-announce-hostname), by their addresses.
// Connections share them: with TLS a node may prove its announced name instead of its address.
// The word is the Cluster's own, which it gives only over connections whose nodes have proved who
// they are. The last name that a node announced holds.
//
// Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "fanline/base/endpoint.h"

namespace fanline::redis {

class AnnouncedNames {
 public:
  void Learn(const Endpoint& node, const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_[ToString(node)] = name;
  }
  // Empty: none is known.
  std::string Of(const Endpoint& node) const {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(ToString(node));
    return found == names_.end() ? "" : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> names_;  // by address; guarded by mutex_
};

}  // namespace fanline::redis
