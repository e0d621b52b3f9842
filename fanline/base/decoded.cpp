#include "fanline/base/decoded.h"

namespace fanline {

Rejection RefuseVersion(uint32_t found, uint32_t known) {
  return {"schema_version: found " + std::to_string(found) + "; this Fanline reads " +
              std::to_string(known),
          found > known};
}

Rejection RefuseId(const std::string& field, uint64_t found) {
  return {field + ": found " + std::to_string(found) + "; an id is 1 to 18446744073709551614"};
}

}  // namespace fanline
