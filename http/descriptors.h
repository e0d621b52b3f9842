// The limit of files and sockets that this process may have open.
#pragma once

#include <cstddef>

namespace fanline::http {

// Raises the soft limit to the hard one. Throws Misconfigured, which says what to do, if that is
// less than `needed`.
void RaiseDescriptorLimit(size_t needed);

}  // namespace fanline::http
