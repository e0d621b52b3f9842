// FANLINE_CHECK(condition, message): a programmer's mistake, checked in release builds too.
// A failure that the outside world can cause is an Outcome or a Rejection instead.
#pragma once

#include <cstdio>
#include <cstdlib>

#define FANLINE_CHECK(condition, message)                                                 \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: check failed: %s (%s)\n", __FILE__, __LINE__, message, \
                   #condition);                                                           \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)
