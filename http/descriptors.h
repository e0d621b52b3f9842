// The limit of files and sockets that this process may have open.
#pragma once

#include <sys/resource.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

#include "fanline/base/misconfigured.h"

namespace fanline::http {

// Raises the soft limit to the hard one. Throws Misconfigured, which says what to do, if that is
// less than `needed`.
inline void RaiseDescriptorLimit(size_t needed) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot read the limit of descriptors");
  }
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot raise the limit of descriptors");
  }
  if (limit.rlim_cur >= needed) return;
  throw Misconfigured("needs " + std::to_string(needed) + " file descriptors and may have " +
                      std::to_string(limit.rlim_cur) +
                      "; raise the hard limit (ulimit -Hn), or allow fewer --connections");
}

}  // namespace fanline::http
