// What feedctl import reads: an edge list.
#include <sys/mman.h>
#include <unistd.h>

#include "fanline/base/check.h"
#include "feedctl/relations/graph.h"
#include "feedctl/support/line_reader.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

using namespace fanline;
using namespace fanline::feedctl;

namespace {

struct Read {
  std::vector<FileEdge> edges;
  std::string failure;
};

Read ReadFile(std::string_view bytes, uint64_t id_offset) {
  const int fd = memfd_create("edges", 0);
  FANLINE_CHECK(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
                "a file");
  Read read;
  try {
    LineReader lines("/proc/self/fd/" + std::to_string(fd));
    const Graph graph = ReadGraph(lines, id_offset, [](uint64_t) {});
    read.edges = graph.edges();
    FANLINE_CHECK(graph.Users().size() <= 2 * (read.edges.size() + graph.to_oneself()),
                  "its users");
  } catch (const Failure& failure) {
    read.failure = failure.what();
    FANLINE_CHECK(!read.failure.empty() && failure.exit_code() == kExitData, "words, and a code");
  }
  close(fd);
  return read;
}

// The plain way, for a file that is not gzipped.
Read ReadLines(std::string_view bytes, uint64_t id_offset) {
  Read read;
  uint64_t number = 0;
  while (!bytes.empty()) {
    std::string_view line = fuzz::TakeLine(bytes);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    const auto parsed = ParseEdgeLine(line, id_offset);
    if (const auto* edge = std::get_if<FileEdge>(&parsed)) {
      const auto& [src, dst] = edge->key;
      FANLINE_CHECK(IsValidId(Raw(src)) && IsValidId(Raw(dst)), "ids are valid");
      if (src != dst) read.edges.push_back(*edge);
    } else if (const auto* bad = std::get_if<BadEdge>(&parsed)) {
      return {{}, ":" + std::to_string(number) + ": " + bad->reason};
    }
  }
  return read;
}

}  // namespace

FUZZ_TARGET(edge_list) {
  for (const uint64_t id_offset : {0, 1}) {
    const Read read = ReadFile(bytes, id_offset);
    if (bytes.starts_with("\x1f\x8b")) continue;
    const Read expected = ReadLines(bytes, id_offset);
    FANLINE_CHECK(read.failure.ends_with(expected.failure), "the line that is wrong is named");
    FANLINE_CHECK(read.failure.empty() == expected.failure.empty(), "nothing else is wrong");
    FANLINE_CHECK(read.edges == expected.edges, "every line's edge");
  }
}
