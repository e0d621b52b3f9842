#include "backends/mysql/range_owners.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/mysql/shard_pool.h"
#include "backends/mysql/sql_text.h"

namespace fanline::mysql {
namespace {

constexpr size_t kQueuedPerShard = 4096;  // a few per range; there are at most 1,024

struct OwnerRow {
  uint64_t epoch = 0;
  int64_t last_offset = -1;
  uint32_t starts = 0;
};

void Change(OwnerRow& row, const AcquireRange&) {
  ++row.epoch;
  ++row.starts;
}
void Change(OwnerRow& row, const RaiseEpoch& raise) {
  row.epoch = std::max(row.epoch, raise.above) + 1;
}
void Change(OwnerRow& row, const SaveStart& start) { row.last_offset = start.offset; }
void Change(OwnerRow& row, const SettleRange& settle) {
  row.starts = settle.starts;
  row.last_offset = settle.last_offset;
}

// Asked by an owner that was replaced meanwhile.
template <class Request>
bool IsStale(const OwnerRow& row, const Request& request) {
  if constexpr (requires { request.epoch; }) return row.epoch != request.epoch;
  return false;
}

// Creates the row or takes its lock, in one statement: no shared lock that two must upgrade.
OwnerRow LockRow(Connection& connection, const std::string& range) {
  connection.Execute("INSERT INTO range_owner (range_id, epoch) VALUES (" + range +
                     ", 0) ON DUPLICATE KEY UPDATE epoch = epoch");
  OwnerRow row;
  connection.Query(
      "SELECT epoch, last_offset, starts FROM range_owner WHERE range_id = " + range +
          " FOR UPDATE",
      [&](const Row& found) {
        row = {found.UInt64(1), found.Int64(2), static_cast<uint32_t>(found.UInt64(3))};
      });
  return row;
}

void WriteRow(Connection& connection, const std::string& range, const OwnerRow& row) {
  std::string sql = "UPDATE range_owner SET epoch = ";
  AppendNumber(sql, row.epoch);
  sql += ", last_offset = ";
  AppendNumber(sql, row.last_offset);
  sql += ", starts = ";
  AppendNumber(sql, row.starts);
  connection.Execute(sql + " WHERE range_id = " + range);
}

RangeOwned Apply(Connection& connection, const OwnerRequest& request) {
  RangeOwned owned;
  connection.Transact([&] {
    std::visit(
        [&](const auto& each) {
          const std::string range = std::to_string(each.range);
          const OwnerRow before = LockRow(connection, range);
          OwnerRow after = before;
          const bool refused = IsStale(before, each);
          if (!refused) {
            Change(after, each);
            WriteRow(connection, range, after);
          }
          owned = {.id = each.id,
                   .status = {},
                   .epoch = after.epoch,
                   .last_offset = before.last_offset,
                   .starts = after.starts,
                   .refused = refused};
        },
        request);
    return true;
  });
  return owned;
}

RangeOwned Failed(const OwnerRequest& request, Status status) {
  RangeOwned owned;
  owned.id = std::visit([](const auto& each) { return each.id; }, request);
  owned.status = std::move(status);
  return owned;
}

}  // namespace

class MysqlRangeOwners::Impl {
 public:
  using Pool = ShardPool<OwnerRequest, RangeOwned>;

  Impl(const Config& config, const ShardMap& map, const RangeLayout& layout,
       std::function<void(RangeOwned)> reply, HealthSink health, LogSink log)
      : map_(map),
        layout_(layout),
        pool_(config, "owners", {.threads_per_shard = 1, .batch = 1, .queue = kQueuedPerShard},
              {.serve =
                   [](Connection& connection, const std::vector<OwnerRequest>& batch) {
                     return std::vector<RangeOwned>{Apply(connection, batch.front())};
                   },
               .fail = Failed,
               .reply = std::move(reply),
               .health = std::move(health),
               .log = std::move(log)}) {}

  void Submit(OwnerRequest request) {
    const Range range = std::visit([](const auto& each) { return each.range; }, request);
    pool_.Submit(map_.ShardOf(layout_.First(range)), std::move(request));
  }

 private:
  const ShardMap map_;
  const RangeLayout layout_;
  Pool pool_;
};

MysqlRangeOwners::MysqlRangeOwners(const Config& config, const ShardMap& map,
                                   const RangeLayout& layout, std::function<void(RangeOwned)> reply,
                                   HealthSink health, LogSink log)
    : impl_(std::make_unique<Impl>(config, map, layout, std::move(reply), std::move(health),
                                   std::move(log))) {}

MysqlRangeOwners::~MysqlRangeOwners() = default;

void MysqlRangeOwners::Submit(OwnerRequest request) { impl_->Submit(std::move(request)); }

}  // namespace fanline::mysql
