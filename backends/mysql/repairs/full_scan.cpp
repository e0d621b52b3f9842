#include "backends/mysql/repairs/full_scan.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

static_assert(kDigestEdges <= kListLimit, "one statement for one digest");

// ---- places ---------------------------------------------------------------------------------

constexpr const char* kPlaceColumns =
    "after_owner, after_bucket, after_member, began, compared, passed, proved, replica, stopped, "
    "allowed";

FullScanPlace PlaceFrom(const Row& row) {
  return {.after = {row.UInt64(1), row.UInt64(2), row.UInt64(3)},
          .began = row.Int64(4),
          .compared = row.UInt64(5),
          .passed = row.Int64(6),
          .proved = row.Int64(7),
          .replica = row.Bool(8),
          .stopped = row.Text(9),
          .allowed = row.Bool(10)};
}

std::string KeyOf(const std::string& edges, Shard shard) {
  return Sql("edges = ", Quoted(edges), " AND shard = ", shard);
}

FullScanPlace PlaceOf(Connection& connection, const std::string& edges, Shard shard) {
  FullScanPlace place;
  connection.Query(Sql("SELECT ", kPlaceColumns, " FROM full_scan WHERE ", KeyOf(edges, shard)),
                   [&](const Row& row) { place = PlaceFrom(row); });
  return place;
}

// `between` stands between the assignments, or the conditions.
std::string Each(const FullScanPlace& place, const char* between) {
  return Sql("after_owner = ", place.after.owner, between, "after_bucket = ", place.after.bucket,
             between, "after_member = ", place.after.member, between, "began = ", place.began,
             between, "compared = ", place.compared, between, "passed = ", place.passed, between,
             "proved = ", place.proved, between, "replica = ", place.replica, between,
             "stopped = ", Quoted(place.stopped), between, "allowed = ", place.allowed);
}

uint64_t GuessedRows(Connection& connection, const std::string& table) {
  return connection.Number(
      Sql("SELECT COALESCE(table_rows, 0) FROM information_schema.tables WHERE table_schema ="
          " DATABASE() AND table_name = ",
          Quoted(table)));
}

// ---- rows -----------------------------------------------------------------------------------

// A table as a scan reads it.
struct ScannedTable {
  std::string table, index;  // as they stand in a statement
  std::string name;          // in the catalogue
  std::string edge;          // the columns of src and dst
  std::vector<std::string> key;
  std::string middle;  // of a ScanKey
  std::string digest;
};

std::string DigestSql(const std::string& columns) {
  return "CAST(CONV(LEFT(SHA2(CONCAT_WS(':', " + columns + "), 256), 16), 16, 10) AS UNSIGNED)";
}

// CONCAT_WS leaves NULL out, and writes BIT and ZEROFILL in other ways.
std::string NumberOf(const std::string& column) {
  return "COALESCE(" + QuotedName(column) + ", 0) + 0";
}

ScannedTable ScannedOf(const std::optional<EdgeTable>& table, bool reverse) {
  if (!table) {
    const std::string name = reverse ? "follower" : "following";
    using Key = std::vector<std::string>;
    return {name,
            " FORCE INDEX (PRIMARY)",
            name,
            "src, dst",
            reverse ? Key{"dst", "bucket", "src"} : Key{"src", "dst"},
            reverse ? "bucket" : "0",
            DigestSql("src, dst, ver, state, pos, delivery")};
  }
  const std::string src = QuotedName(table->src), dst = QuotedName(table->dst);
  const std::string edge = src + ", " + dst;
  const std::string delivery = table->delivery.empty() ? "0" : NumberOf(table->delivery);
  return {QuotedName(table->table),
          "",
          table->table,
          edge,
          reverse ? std::vector{dst, src} : std::vector{src, dst},
          "0",
          DigestSql(edge + ", " + NumberOf(table->ver) + ", " + NumberOf(table->state) + ", " +
                    NumberOf(table->pos) + ", " + delivery)};
}

// "(dst = 7 AND bucket = 8 AND src > 9 OR dst = 7 AND bucket > 8 OR dst > 7)", which a server reads
// as ranges of the key. (dst, bucket, src) > (7, 8, 9) would read the whole table.
std::string Behind(const ScannedTable& scanned, const ScanKey& after) {
  const std::vector<uint64_t> place = scanned.key.size() == 2
                                          ? std::vector{after.owner, after.member}
                                          : std::vector{after.owner, after.bucket, after.member};
  std::string sql = "(";
  for (size_t last = place.size(); last-- > 0;) {
    for (size_t i = 0; i < last; ++i) AppendSql(sql, scanned.key[i], " = ", place[i], " AND ");
    AppendSql(sql, scanned.key[last], " > ", place[last], last > 0 ? " OR " : ")");
  }
  return sql;
}

// Why a page may not be read here; "": it may.
std::string Unreadable(Connection& connection, const std::optional<EdgeTable>& table, bool reverse,
                       Shard shard) {
  if (!table) {
    uint64_t here = 0;
    connection.Query("SELECT shard_count, shard_index FROM installation",
                     [&](const Row& row) { here = row.UInt64(2); });
    if (here == shard) return "";
    return Sql("the server named for shard ", shard, " is of shard ", here);
  }
  const std::string& owner = reverse ? table->dst : table->src;
  const std::string& member = reverse ? table->src : table->dst;
  const bool sorted =
      connection.Number(Sql(
          "SELECT COUNT(*) FROM information_schema.statistics AS one JOIN"
          " information_schema.statistics AS two USING (table_schema, table_name,"
          " index_name) WHERE table_schema = DATABASE() AND table_name = ",
          Quoted(table->table), " AND one.seq_in_index = 1 AND one.column_name = ", Quoted(owner),
          " AND two.seq_in_index = 2 AND two.column_name = ", Quoted(member))) > 0;
  return sorted ? ""
                : Sql("table ", table->table, " has no key that begins with ", owner, ", ", member);
}

}  // namespace

FullScanRead ScanPlaceService::Do(Connection& connection, const ReadFullScan& request) const {
  FullScanRead reply;
  reply.place = PlaceOf(connection, request.table.reverse ? reverse : forward, request.table.shard);
  reply.now = static_cast<UnixMs>(connection.Number(Sql("SELECT ", kNowMs)));
  return reply;
}

FullScanMoved ScanPlaceService::Do(Connection& connection, const MoveFullScan& request) const {
  const std::string& edges = request.table.reverse ? reverse : forward;
  const Shard shard = request.table.shard;
  if (request.from.began == 0) {
    connection.Execute(Sql("INSERT IGNORE INTO full_scan (edges, shard) VALUES (", Quoted(edges),
                           ", ", shard, ")"));
  }
  connection.Execute(Sql("UPDATE full_scan SET ", Each(request.to, ", "), " WHERE ",
                         KeyOf(edges, shard), " AND ", Each(request.from, " AND ")));
  return {};
}

Config ScanRowsService::Tuned(Config config) {
  config.read_timeout = std::max(config.read_timeout, std::chrono::seconds(60));
  return config;
}

ScanPageRead ScanRowsService::Do(Connection& connection, const ReadScanPage& request) const {
  const bool reverse = request.table.reverse;
  const ScannedTable scanned = ScannedOf(table, reverse);
  ScanPageRead reply;
  const std::string why = Unreadable(connection, table, reverse, request.table.shard);
  if (!why.empty()) {
    reply.status = Status::Never(why);
    return reply;
  }
  reply.replica = replicas;
  if (replicas && !table) {
    const FullScanPlace here = PlaceOf(connection, scanned.name, request.table.shard);
    reply.lags = here.began != request.place.began || here.after != request.place.after;
    if (reply.lags) return reply;
  }
  std::string order;
  AppendJoined(order, scanned.key, [](std::string& out, const std::string& name) { out += name; });
  connection.Query(
      Sql("SELECT ", scanned.edge, ", ", scanned.middle, ", ", scanned.digest, " FROM ",
          scanned.table, scanned.index, " WHERE ", Behind(scanned, request.place.after),
          " ORDER BY ", order, " LIMIT ", request.limit),
      [&](const Row& row) {
        const EdgeKey edge{UserId{row.UInt64(1)}, UserId{row.UInt64(2)}};
        reply.rows.push_back({edge, row.UInt64(4)});
        const auto [src, dst] = std::pair(Raw(edge.src), Raw(edge.dst));
        reply.last = {reverse ? dst : src, row.UInt64(3), reverse ? src : dst};
      });
  reply.more = reply.rows.size() == request.limit;
  reply.total = GuessedRows(connection, scanned.name);
  return reply;
}

EdgesDigested ScanRowsService::Do(Connection& connection, const DigestEdges& request) const {
  const bool reverse = request.table.reverse;
  const ScannedTable scanned = ScannedOf(table, reverse);
  EdgesDigested reply;
  ForEachChunk(request.edges, kDigestEdges, [&](std::span<const EdgeKey> chunk) {
    const std::string rows = table     ? SelectSql(*table, chunk)
                             : reverse ? ReverseRowsSql(chunk)
                                       : ForwardRowsSql(chunk);
    reply.digests.push_back(
        connection.Number(Sql("SELECT BIT_XOR(", scanned.digest, ") FROM (", rows, ") AS wanted")));
  });
  return reply;
}

MysqlFullScan::MysqlFullScan(const Config& config, const LogSink& log,
                             const std::optional<AppTables>& app,
                             const std::vector<ShardAddress>& replicas)
    : places_(config, {}, log, [&] {
        ScanPlaceService service{static_cast<uint32_t>(config.shards.size())};
        if (app) {
          service.forward = "forward." + app->forward.table;
          service.reverse = "reverse." + app->reverse.table;
        }
        return service;
      }()) {
  auto next = replicas.begin();
  const auto rows = [&](Config servers, const std::optional<EdgeTable>& table) {
    if (!replicas.empty()) {
      const auto end = next + static_cast<ptrdiff_t>(servers.shards.size());
      servers.shards.assign(next, end);
      next = end;
      servers.resource = "full_scan";
      servers.replica = true;
    }
    return std::make_unique<Rows>(servers, HealthSink(), log,
                                  ScanRowsService{table, servers.replica});
  };
  if (app) {
    forward_ = rows(app->forward.config, app->forward);
    reverse_ = rows(app->reverse.config, app->reverse);
  } else {
    forward_ = rows(config, std::nullopt);
  }
}

std::vector<FullScanFound> ReadFullScans(Connection& connection) {
  auto found = connection.All(
      Sql("SELECT ", kPlaceColumns, ", edges, shard, ", kNowMs,
          " FROM full_scan ORDER BY edges, shard"),
      [](const Row& row) {
        return FullScanFound{row.Text(11), row.UInt64(12), PlaceFrom(row), 0, row.Int64(13)};
      });
  for (FullScanFound& each : found) each.total = GuessedRows(connection, each.edges);
  return found;
}

}  // namespace fanline::mysql
