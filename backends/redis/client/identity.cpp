#include "backends/redis/client/identity.h"

namespace fanline::redis {

std::string_view InfoField(std::string_view info, std::string_view name) {
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

Identity IdentityOf(std::string_view info) {
  return {std::string(InfoField(info, "run_id")), std::string(InfoField(info, "role")),
          std::string(InfoField(info, "master_replid2"))};
}

}  // namespace fanline::redis
