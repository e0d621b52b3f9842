// Requests of the full scan: it compares every row of one table of edges with the row of the other
// table, page by page in the order of the primary key. The servers work out a digest of each row,
// of all that a version orders, so only keys and digests come over the network.
//
// Pages and digests may come from replicas: they say where to look, not what is true. A table's
// place lies on a primary (table full_scan), for all who scan it. Repeating a request does no harm.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline {

// A table of edges on one shard.
struct EdgeTableId {
  bool reverse = false;  // by dst; else the forward rows, by src
  Shard shard = 0;
  friend auto operator<=>(const EdgeTableId&, const EdgeTableId&) = default;
};
constexpr const char* NameOf(const EdgeTableId& table) {
  return table.reverse ? "reverse" : "forward";
}

// A row's place in the order of its table: src, 0, dst of a forward row; dst, bucket, src of a
// reverse row. Both tables of an application have two columns, and 0 between them.
struct ScanKey {
  uint64_t owner = 0, bucket = 0, member = 0;
  friend auto operator<=>(const ScanKey&, const ScanKey&) = default;
};

// Times are of the server's clock.
struct FullScanPlace {
  ScanKey after;          // compared up to here; all 0: no pass is under way
  UnixMs began = 0;       // the last pass; 0: none has
  uint64_t compared = 0;  // rows, by that pass
  UnixMs passed = 0;      // when a pass last came to the end; 0: none has
  UnixMs proved = 0;      // when the last of those began that read primaries alone; 0: none has
  bool replica = false;   // the pass under way has read a replica
  std::string stopped;   // why nothing is compared until an operator has seen to it; "": it goes on
  bool allowed = false;  // by an operator: to the end of this pass it never stops
  friend bool operator==(const FullScanPlace&, const FullScanPlace&) = default;
};

// How long the pass under way will take yet, if it goes on as fast as it has so far.
inline std::chrono::milliseconds LeftOf(const FullScanPlace& place, uint64_t total, UnixMs now) {
  if (place.compared == 0 || total <= place.compared || now <= place.began) return {};
  const double per_row =
      static_cast<double>(now - place.began) / static_cast<double>(place.compared);
  return std::chrono::milliseconds(
      static_cast<int64_t>(per_row * static_cast<double>(total - place.compared)));
}

struct ReadFullScan {
  using Reply = struct FullScanRead;
  uint64_t id = 0;
  EdgeTableId table;
};
struct FullScanRead {
  uint64_t id = 0;
  Status status;
  FullScanPlace place;
  UnixMs now = 0;
};

// Writes `to`, unless another scanner or an operator has changed the place meanwhile.
struct MoveFullScan {
  using Reply = Acknowledged<MoveFullScan>;
  uint64_t id = 0;
  EdgeTableId table;
  FullScanPlace from, to;
};
using FullScanMoved = MoveFullScan::Reply;

// Reads the next `limit` rows behind a place, tombstones too.
struct ReadScanPage {
  using Reply = struct ScanPageRead;
  uint64_t id = 0;
  EdgeTableId table;
  FullScanPlace place;
  uint32_t limit = 0;
};
struct ScanPageRead {
  struct Row {
    EdgeKey edge;
    uint64_t digest = 0;
  };
  uint64_t id = 0;
  Status status;  // never: the table cannot be read in that order
  std::vector<Row> rows;
  ScanKey last;          // of the last row
  bool more = false;     // as many rows as asked for: the table goes on
  bool replica = false;  // not read on the primary
  bool lags = false;     // a replica that does not have the place yet; nothing was read
  uint64_t total = 0;    // rows of the table, as the server guesses; 0: unknown
};

inline constexpr size_t kDigestEdges = 300;  // of one digest

// Digests of the rows that edges have in `table`, for each kDigestEdges of them: the XOR of the
// rows' digests. One without a row adds nothing.
struct DigestEdges {
  using Reply = struct EdgesDigested;
  uint64_t id = 0;
  EdgeTableId table;
  std::vector<EdgeKey> edges;
};
struct EdgesDigested {
  uint64_t id = 0;
  Status status;
  std::vector<uint64_t> digests;
};

}  // namespace fanline
