// One command: declared into its table by its Make function (commands.h), run at most once.
#pragma once

#include "feedctl/interrupt.h"
#include "feedctl/settings.h"

namespace fanline::feedctl {

class Command {
 public:
  virtual ~Command() = default;
  // Prints its result to stdout and answers the exit code; throws Failure.
  virtual int Run(Interrupt& interrupt) = 0;
};

}  // namespace fanline::feedctl
