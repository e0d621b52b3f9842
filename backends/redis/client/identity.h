// Tells whether a Redis node is still the one on which ranges were claimed. A restart or a change
// of role, even back and forth, changes the identity and voids all claims on the node.
#pragma once

#include <string>
#include <string_view>

namespace fanline::redis {

struct Identity {
  std::string run_id;     // the process's
  std::string role;       // "master" or "slave"
  std::string former_id;  // master_replid2: changes when a replica becomes a master
  friend bool operator==(const Identity&, const Identity&) = default;

  bool master() const { return role == "master"; }
};

// From the text of INFO (sections server and replication).
Identity IdentityOf(std::string_view info);

// The value of "name:value\r\n" in an INFO text, or empty.
std::string_view InfoField(std::string_view info, std::string_view name);

}  // namespace fanline::redis
