// The full scan's pages, digests and places on the shards (fanline/ports/full_scan.h), with one
// thread per shard and kind: so much load it makes at most.
//
// A row's digest is the first 64 bits of a SHA-256 over all that a version orders. CRC32 would not
// do: it is linear, so the XOR of many is the same when two rows have the same bits wrong.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/mysql/repairs/app_edges.h"
#include "backends/mysql/sql/shard_port.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/full_scan.h"

namespace fanline::mysql {

struct ScanPlaceService {
  static constexpr const char* kName = "place of the full scan";
  static constexpr PoolLimits kLimits{};

  FullScanRead Do(Connection& connection, const ReadFullScan& request) const;
  FullScanMoved Do(Connection& connection, const MoveFullScan& request) const;
  template <class R>
  Shard ShardOf(const R& request) const {
    return request.table.shard % shards;
  }

  uint32_t shards = 1;                                      // our own, where the places are
  std::string forward = "following", reverse = "follower";  // names of tables there
};

struct ScanRowsService {
  static constexpr const char* kName = "full scan";
  static constexpr PoolLimits kLimits{};

  static Config Tuned(Config config);
  ScanPageRead Do(Connection& connection, const ReadScanPage& request) const;
  EdgesDigested Do(Connection& connection, const DigestEdges& request) const;
  template <class R>
  Shard ShardOf(const R& request) const {
    return request.table.shard;
  }

  std::optional<EdgeTable> table = {};  // none: our own two
  bool replicas = false;                // those of our own shards have the places, too
};

class MysqlFullScan final
    : public ServesAll<MysqlFullScan, ReadFullScan, MoveFullScan, ReadScanPage, DigestEdges> {
 public:
  // `app`: edges are read there instead of in Fanline's own tables; their places are on our shards,
  // those of the application's shard N on N mod the number of ours. `replicas`: where pages and
  // digests are read instead, in the order of the shards: ours, or the application's forward and
  // then its reverse ones; empty: on the primaries.
  MysqlFullScan(const Config& config, const LogSink& log,
                const std::optional<AppTables>& app = std::nullopt,
                const std::vector<ShardAddress>& replicas = {});

  void Serve(const ReadFullScan& request, ReplyTo<FullScanRead> to) { places_.Submit(request, to); }
  void Serve(MoveFullScan request, ReplyTo<FullScanMoved> to) {
    places_.Submit(std::move(request), to);
  }
  void Serve(ReadScanPage request, ReplyTo<ScanPageRead> to) {
    of(request.table).Submit(std::move(request), to);
  }
  void Serve(DigestEdges request, ReplyTo<EdgesDigested> to) {
    of(request.table).Submit(std::move(request), to);
  }

 private:
  using Rows = ShardPort<ScanRowsService, ReadScanPage, DigestEdges>;

  Rows& of(const EdgeTableId& table) { return table.reverse && reverse_ ? *reverse_ : *forward_; }

  ShardPort<ScanPlaceService, ReadFullScan, MoveFullScan> places_;
  std::unique_ptr<Rows> forward_, reverse_;  // none: both tables are on the same servers
};

// For a person who asks: the places that a shard keeps.
struct FullScanFound {
  std::string edges;  // "following", "follower", "forward.follows", ...
  uint64_t shard = 0;
  FullScanPlace place;
  uint64_t total = 0;  // rows, as the server guesses; 0: unknown
  UnixMs now = 0;      // the server's clock
};
[[nodiscard]] std::vector<FullScanFound> ReadFullScans(Connection& connection);

}  // namespace fanline::mysql
