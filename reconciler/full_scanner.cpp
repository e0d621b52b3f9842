#include "reconciler/full_scanner.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace fanline::reconciler {
namespace {

constexpr size_t kLongestReason = 255;  // as long as its column

std::chrono::milliseconds Between(UnixMs from, UnixMs to) {
  return std::chrono::milliseconds(std::max<UnixMs>(0, to - from));
}

}  // namespace

FullScanner::FullScanner(const Ports& ports, const Checker::Setup& setup, uint32_t partitions,
                         const EdgeComparer::Limits& comparing, const FullScanLimits& limits,
                         RepairGate& gate)
    : ports_(ports),
      shards_(setup.shards),
      partitions_(partitions),
      limits_(limits),
      gate_(gate),
      comparer_(Net::kScan, ports.comparer, setup, comparing, gate),
      random_(setup.seed) {
  const auto add = [this](bool reverse, const ShardMap& map, const ShardMap& other) {
    for (Shard shard = 0; shard < map.shards(); ++shard) {
      Table& table = tables_.emplace_back();
      table.id = {reverse, shard};
      table.seen.resize(size_t{other.shards()} + 1);
    }
  };
  add(false, shards_.forward, shards_.reverse);
  add(true, shards_.reverse, shards_.forward);
}

Progress FullScanner::Step(std::span<FullScanInput> inputs, Now now) {
  for (const FullScanInput& input : inputs) {
    std::visit([&](const auto& what) { On(what, now); }, input);
  }
  Progress progress;
  for (Table& table : tables_) {
    if (!table.ours) table.ours_since.reset();
    if (table.ours && !table.ours_since) table.ours_since = now.mono;
    if (!taking_ || !table.ours || table.busy) continue;
    if (table.next_at <= now.mono) Begin(table, now);
    if (!table.busy) progress.StepBy(table.next_at);
  }
  progress.StepBy(comparer_.Send(now));
  if (TakeResults(now)) progress.StepBy(now.mono);
  Report(now);
  return progress;
}

void FullScanner::Own(const std::vector<int32_t>& partitions) {
  const std::set<int32_t> owned(partitions.begin(), partitions.end());
  for (size_t i = 0; i < tables_.size(); ++i) {
    const size_t partition = i * partitions_ / tables_.size();
    tables_[i].ours = owned.contains(static_cast<int32_t>(partition));
  }
}

void FullScanner::StopTaking() {
  taking_ = false;
  comparer_.StopTaking();
}

// ---- pages ----------------------------------------------------------------------------------

void FullScanner::Begin(Table& table, Now now) {
  if (gate_.mode() == ReconcilerMode::kPause || gate_.mirror_behind()) {
    return Rest(table, now.mono + limits_.poll_every);
  }
  table.busy = true;
  ports_.scan.Submit(ReadFullScan{Asked(places_, &table), table.id});
}

void FullScanner::On(const FullScanRead& read, Now now) {
  Table& table = *Answered(places_, read.id);
  if (!read.status.done()) return Fail(table, read.status, now);
  table.place = read.place;
  table.now = read.now;
  table.read_at = now.mono;
  const bool due = read.place.after != ScanKey{} ||
                   read.place.began + Milliseconds(limits_.every) <= read.now ||
                   read.place.began > read.now;  // by a clock that was ahead
  if (!due || !read.place.stopped.empty()) return Rest(table, now.mono + limits_.poll_every);
  table.asked_at = now.mono;
  ports_.scan.Submit(ReadScanPage{Asked(pages_, &table), table.id, table.place, limits_.rows});
}

void FullScanner::On(const ScanPageRead& read, Now now) {
  Table& table = *Answered(pages_, read.id);
  if (read.status.never()) return Stop(table, read.status.message);
  if (!read.status.done()) return Fail(table, read.status, now);
  if (read.lags) {
    if (!table.lags_since) table.lags_since = now.mono;
    table.lag = now.mono - *table.lags_since;
    return Rest(table, now.mono + limits_.lag_every);
  }
  table.lags_since.reset();
  table.lag = {};
  table.page = read;
  table.total = read.total;
  table.failed = false;
  table.suspects.clear();
  AskDigests(table);
  if (table.open == 0) Look(table, now);
}

void FullScanner::AskDigests(Table& table) {
  std::map<Shard, DigestEdges> requests;
  std::map<Shard, std::vector<uint64_t>> digests;
  for (const ScanPageRead::Row& row : table.page.rows) {
    const Shard other = OtherOf(table, row.edge);
    DigestEdges& request = requests[other];
    std::vector<uint64_t>& expected = digests[other];
    if (request.edges.size() % kDigestEdges == 0) expected.push_back(0);
    expected.back() ^= row.digest;
    request.edges.push_back(row.edge);
  }
  for (auto& [other, request] : requests) {
    ++table.open;
    request.id = Asked(digests_, Expected{&table, request.edges, std::move(digests[other])});
    request.table = {!table.id.reverse, other};
    ports_.scan.Submit(std::move(request));
  }
}

void FullScanner::On(const EdgesDigested& digested, Now now) {
  const Expected expected = Answered(digests_, digested.id);
  Table& table = *expected.table;
  if (digested.status.later()) ports_.metrics.Parked(digested.status.resource);
  table.failed |= !digested.status.done();
  if (digested.status.never()) table.never = digested.status.message;
  for (size_t i = 0; i < digested.digests.size(); ++i) {
    if (digested.digests[i] == expected.digests[i]) continue;
    const auto first = expected.edges.begin() + static_cast<ptrdiff_t>(i * kDigestEdges);
    const auto left = static_cast<size_t>(expected.edges.end() - first);
    table.suspects.insert(table.suspects.end(), first,
                          first + static_cast<ptrdiff_t>(std::min(left, kDigestEdges)));
  }
  if (--table.open == 0) Look(table, now);
}

// ---- differences ----------------------------------------------------------------------------

void FullScanner::Look(Table& table, Now now) {
  table.took = now.mono - table.asked_at;
  if (!table.never.empty()) return Stop(table, std::exchange(table.never, {}));
  if (table.failed) return Again(table, now);
  if (table.suspects.empty()) return Judge(table, now);
  for (const EdgeKey& edge : std::exchange(table.suspects, {})) {
    ++table.open;
    looks_.emplace(++ids_, std::pair(&table, edge));
    comparer_.Compare({ids_, edge, {}, true});
  }
}

// Returns whether there were any.
bool FullScanner::TakeResults(Now now) {
  const std::vector<Looked> looks = comparer_.TakeLooked();
  for (const Looked& looked : looks) {
    const auto [table, edge] = TakeAnswered(looks_, looked.ticket);
    table->failed |= looked.what == Looked::What::kUnknown;
    if (looked.what == Looked::What::kDiffers) table->suspects.push_back(edge);
    if (--table->open == 0) Judge(*table, now);
  }
  const std::vector<uint64_t> finished = comparer_.TakeFinished();
  for (const uint64_t ticket : finished) {
    Table* const table = TakeAnswered(given_, ticket);
    if (--table->open == 0) Advance(*table);
  }
  return !looks.empty() || !finished.empty();
}

// A mirror that fell behind meanwhile may account for what differs.
void FullScanner::Judge(Table& table, Now now) {
  if (table.failed || gate_.mirror_behind()) return Again(table, now);
  const std::string many = CountSeen(table);
  if (!many.empty() && !table.place.allowed) return Stop(table, many);
  const std::vector<EdgeKey> differing = std::exchange(table.suspects, {});
  if (differing.empty()) return Advance(table);
  table.open = differing.size();
  for (const EdgeKey& edge : differing) {
    given_.emplace(++ids_, &table);
    comparer_.HandOver({ids_, edge, {}}, now);
  }
}

// Why the scan must stop; "": it need not. A small part of a page says little, so it is added to
// those of the next pages until it says enough.
std::string FullScanner::CountSeen(Table& table) {
  const auto count = [&](const EdgeKey& edge, uint64_t Seen::*what) {
    ++(table.seen[OtherOf(table, edge)].*what);
    ++(table.seen.back().*what);
  };
  for (const ScanPageRead::Row& row : table.page.rows) count(row.edge, &Seen::rows);
  for (const EdgeKey& edge : table.suspects) count(edge, &Seen::differing);
  std::string why;
  for (size_t other = 0; other < table.seen.size(); ++other) {
    Seen& seen = table.seen[other];
    if (seen.differing > limits_.differing && seen.differing * 10 > seen.rows && why.empty()) {
      why = std::to_string(seen.differing) + " of " + std::to_string(seen.rows) +
            " rows differ from " + (table.id.reverse ? "forward" : "reverse") + " rows" +
            (other + 1 < table.seen.size() ? " of shard " + std::to_string(other) : "");
    }
    if (seen.rows >= 10 * limits_.differing) seen = {};
  }
  return why;
}

// ---- places ---------------------------------------------------------------------------------

void FullScanner::Advance(Table& table) {
  FullScanPlace to = table.place;
  if (to.after == ScanKey{}) {
    to.began = table.now;
    to.compared = 0;
    to.replica = false;
  }
  to.replica |= table.page.replica;
  to.compared += table.page.rows.size();
  to.after = table.page.last;
  if (!table.page.more) {
    to.after = {};
    to.passed = table.now;
    if (!to.replica) to.proved = to.began;
    to.allowed = false;
  }
  Move(table, to);
}

void FullScanner::Stop(Table& table, const std::string& why) {
  for (Seen& seen : table.seen) seen = {};
  table.page = {};
  FullScanPlace to = table.place;
  to.stopped = why.substr(0, kLongestReason);
  ports_.metrics.FullScanStopped(NameOf(table.id), table.id.shard, to.stopped);
  Move(table, to);
}

void FullScanner::Move(Table& table, const FullScanPlace& to) {
  const uint64_t id = Asked(moves_, std::pair(&table, to));
  ports_.scan.Submit(MoveFullScan{id, table.id, table.place, to});
}

void FullScanner::On(const FullScanMoved& moved, Now now) {
  const auto [moving, to] = Answered(moves_, moved.id);
  Table& table = *moving;
  if (!moved.status.done()) return Fail(table, moved.status, now);
  table.place = to;
  table.attempts = 0;
  if (!to.stopped.empty()) return Rest(table, now.mono + limits_.poll_every);
  const uint64_t rows = table.page.rows.size();
  ports_.metrics.FullScanned(NameOf(table.id), rows);
  const Duration pace =
      std::chrono::duration_cast<Duration>(std::chrono::seconds(rows)) / limits_.rows_per_second;
  Rest(table, std::max(table.asked_at + pace, now.mono + table.took));
}

void FullScanner::Fail(Table& table, const Status& status, Now now) {
  if (status.later()) ports_.metrics.Parked(status.resource);
  Again(table, now);
}

// The page is read again.
void FullScanner::Again(Table& table, Now now) {
  Rest(table, now.mono + limits_.again.Delay(++table.attempts, random_()));
}

void FullScanner::Rest(Table& table, Time until) {
  table.busy = false;
  table.next_at = until;
}

void FullScanner::Report(Now now) {
  FullScanReport report;
  uint64_t compared = 0, total = 0;
  for (const Table& table : tables_) {
    if (!table.ours) continue;
    const FullScanPlace& place = table.place;
    report.stopped += place.stopped.empty() ? 0 : 1;
    report.replica_lag = std::max(report.replica_lag, table.lag);
    const UnixMs since = place.passed > 0 ? place.passed : place.began;
    const Duration unpassed = since == 0 ? now.mono - *table.ours_since
                                         : Between(since, table.now) + (now.mono - table.read_at);
    report.unpassed = std::max(report.unpassed, unpassed);
    if (place.began == 0) continue;
    const bool under_way = place.after != ScanKey{};
    const uint64_t all = under_way ? std::max(table.total, place.compared) : place.compared;
    compared += place.compared;
    total += all;
    if (under_way) report.left = std::max<Duration>(report.left, LeftOf(place, all, table.now));
  }
  report.done = total == 0 ? 1 : static_cast<double>(compared) / static_cast<double>(total);
  ports_.metrics.FullScan(report);
}

}  // namespace fanline::reconciler
