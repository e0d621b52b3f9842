// A fuzz target: a function of any bytes that aborts with a message if something does not hold
// (FANLINE_CHECK). No input is wrong, and the same input always gives the same result.
//
//   FUZZ_TARGET(hint) { ... bytes ... }
//
// stands in hint.cpp. `make fuzz` links it with libFuzzer (libfuzzer.cpp), which searches for bytes
// that reach new code. `make test` runs it over the bytes found so far (corpus/hint.txt,
// corpora_test.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fanline::fuzz {

struct Target {
  std::string name;
  void (*run)(std::string_view bytes);
};

// All targets linked into this program.
inline std::vector<Target>& Targets() {
  static std::vector<Target> targets;
  return targets;
}

inline bool Register(const char* name, void (*run)(std::string_view)) {
  Targets().push_back({name, run});
  return true;
}

}  // namespace fanline::fuzz

#define FUZZ_TARGET(name)                                   \
  static void Fuzz_##name(std::string_view bytes);          \
  [[maybe_unused]] static const bool is_registered_##name = \
      fanline::fuzz::Register(#name, Fuzz_##name);          \
  static void Fuzz_##name(std::string_view bytes)
