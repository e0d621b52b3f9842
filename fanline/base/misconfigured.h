// Thrown by a running program that finds its topics or stores at odds with what all programs agree
// on. Only an operator can mend that: the process ends with exit code 78 (EX_CONFIG), and does so
// again when a supervisor restarts it.
#pragma once

#include <stdexcept>

namespace fanline {

struct Misconfigured : std::runtime_error {
  using std::runtime_error::runtime_error;  // one line: what is wrong, and what to do
};

}  // namespace fanline
