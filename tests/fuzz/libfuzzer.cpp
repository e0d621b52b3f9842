// The entry of libFuzzer, for the one target that is linked with it.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fanline::fuzz::Targets().front().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
