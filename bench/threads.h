// The same work in several threads, on the clock together.
#pragma once

#include <cstdint>
#include <functional>

namespace fanline::bench {

// Every thread makes its work ready (`prepare`, told which thread it is, from 0); when all are
// ready they do it. Seconds from there until the last has finished. Throws what one of them threw.
double SecondsOf(uint32_t threads, const std::function<std::function<void()>(uint32_t)>& prepare);

}  // namespace fanline::bench
