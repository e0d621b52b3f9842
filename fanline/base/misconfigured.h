// What the programs, their topics and their stores must agree on does not hold, found while
// running. Nothing but an operator can change that: the process ends with exit code 78 (EX_CONFIG),
// and a supervisor that starts it again meets the same.
#pragma once

#include <stdexcept>

namespace fanline {

struct Misconfigured : std::runtime_error {
  using std::runtime_error::runtime_error;  // one line: what is wrong, and what to do
};

}  // namespace fanline
