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

// The value of "name:value\r\n" in an INFO text, or empty.
inline std::string_view InfoField(std::string_view info, std::string_view name) {
  for (size_t at = 0; at < info.size();) {
    size_t end = info.find('\n', at);
    if (end == std::string_view::npos) end = info.size();
    std::string_view line = info.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.size() > name.size() && line.substr(0, name.size()) == name &&
        line[name.size()] == ':') {
      return line.substr(name.size() + 1);
    }
    at = end + 1;
  }
  return {};
}

// From the text of INFO (sections server and replication).
inline Identity IdentityOf(std::string_view info) {
  return {std::string(InfoField(info, "run_id")), std::string(InfoField(info, "role")),
          std::string(InfoField(info, "master_replid2"))};
}

}  // namespace fanline::redis
