// How many files and sockets this process may have open.
#pragma once

#include <cstddef>

namespace fanline::http {

// Raises the soft limit to the hard one. Throws Misconfigured, which says what to do, when that is
// fewer than `needed`.
void RaiseDescriptorLimit(size_t needed);

}  // namespace fanline::http
