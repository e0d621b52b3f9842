#include "feedctl/relations/forward_restore.h"

#include <algorithm>

#include "backends/mysql/edges/tombstones.h"
#include "backends/mysql/installation/range_owners.h"
#include "backends/mysql/sql/chunks.h"
#include "fanline/base/mono_now.h"
#include "fanline/model/hint.h"

namespace fanline::feedctl {
namespace {

constexpr size_t kHintsPerRequest = 200;
constexpr uint64_t kRequestsUnderWay = 100;

// A page takes about a quarter of a second: an interrupt waits for no more, and a kill undoes none
// of the pages before.
uint32_t PageOf(const RestoreOptions& options) {
  return std::clamp(options.rows_per_second / 4, 1u, 5'000u);
}

}  // namespace

ForwardRestore::ForwardRestore(const Settings& settings, const mysql::Installation& installation,
                               const RestoreOptions& options)
    : config_(options::ToConfig(settings.mysql)),
      installation_(installation),
      options_(options),
      connections_(config_),
      pace_(options.rows_per_second, SystemNow().mono),
      progress_(options.apply ? "restoring" : "comparing", "rows of followers", 0) {
  if (!options.apply) return;
  producer_ = std::make_unique<kafka::Producer>(
      kafka::ProducerOptions{.client = options::ToOptions(settings.kafka, kClientId),
                             .hint_topic = installation.tasks_topic},
      LogSink());
}

Status ForwardRestore::Run(const Interrupt& interrupt) {
  if (options_.apply) {
    if (Status status = Begin(); !status.done()) return status;
  }
  for (Shard reverse = 0; reverse < installation_.shard_map.shards(); ++reverse) {
    if (Status status = Walk(reverse, interrupt); !status.done()) return status;
    if (interrupt.requested()) return Status::Done();
  }
  complete_ = true;
  return options_.apply ? End() : Status::Done();
}

// A wiped shard has lost its horizon too. What the others refuse it must refuse.
Status ForwardRestore::Begin() {
  UnixMs horizon = 0;
  Status status =
      mysql::ReadHighestHorizon(connections_, installation_.shard_map.shards(), &horizon);
  if (!status.done()) return status;
  status = connections_.Run(options_.shard, [&](mysql::Connection& connection) {
    if (horizon > 0) mysql::RaiseHorizonTo(connection, horizon);
    if (options_.anew) mysql::ForgetRestorePlaces(connection);
    places_ = mysql::ReadRestorePlaces(connection);
  });
  for (const auto& [shard, place] : places_) {
    resumed_ = std::min(resumed_.value_or(place.began), place.began);
  }
  return status;
}

Status ForwardRestore::End() {
  return connections_.Run(options_.shard, [](mysql::Connection& connection) {
    mysql::SweepCountersAnew(connection);
    mysql::ForgetRestorePlaces(connection);
  });
}

Status ForwardRestore::Walk(Shard reverse, const Interrupt& interrupt) {
  const mysql::RestorePlace& begin = places_[reverse];
  mysql::FollowerPlace after = begin.after;
  const uint32_t limit = PageOf(options_);
  bool over = begin.over;
  while (!over && interrupt.Sleep(pace_.WaitBefore(read_, SystemNow().mono))) {
    std::vector<Edge> page;
    Status status = connections_.ReadTruth(reverse, [&](mysql::Connection& connection) {
      page = mysql::FollowersBehind(connection, after, limit);
    });
    if (!status.done()) return status;
    over = page.size() < limit;
    if (!page.empty()) after = mysql::PlaceOf(page.back());
    if (status = Restore(page); !status.done()) return status;
    if (status = KeepPlace(reverse, after, over); !status.done()) return status;
    read_ += page.size();
    progress_.At(read_);
  }
  return Status::Done();
}

Status ForwardRestore::Restore(const std::vector<Edge>& page) {
  std::vector<Edge> ours;
  std::copy_if(page.begin(), page.end(), std::back_inserter(ours), [this](const Edge& row) {
    return installation_.shard_map.ShardOf(row.src) == options_.shard;
  });
  of_shard_ += ours.size();
  Status status;
  mysql::ForEachChunk(ours, mysql::kListLimit, [&](std::span<const Edge> chunk) {
    if (!status.done()) return;
    const std::vector<Edge> rows(chunk.begin(), chunk.end());
    mysql::ForwardRestored restored;
    status = connections_.ReadTruth(options_.shard, [&](mysql::Connection& connection) {
      restored = mysql::RestoreForward(connection, rows, options_.apply);
    });
    if (status.done()) rows_ += restored;
  });
  return status.done() && options_.apply ? SendHints(ours) : status;
}

// A live timeline was perhaps read or rebuilt while the rows were missing. Who owned ranges is not
// asked: the shard that was wiped has forgotten it.
Status ForwardRestore::SendHints(const std::vector<Edge>& rows) {
  AppendHints next;
  const auto send = [&] {
    if (next.hints.empty()) return;
    acknowledged_.AwaitAtMost(kRequestsUnderWay);
    acknowledged_.Expect();
    hints_ += next.hints.size();
    producer_->Submit(std::exchange(next, {}), acknowledged_);
  };
  const RangeLayout layout = installation_.layout();
  for (const Edge& row : rows) {
    const Range range = layout.RangeOf(row.src);
    next.hints.emplace_back(range, Hint::OfSync(row.src, row.dst));
    if (next.hints.size() == kHintsPerRequest) send();
  }
  send();
  acknowledged_.AwaitAtMost(0);
  return acknowledged_.failure();
}

Status ForwardRestore::KeepPlace(Shard reverse, const mysql::FollowerPlace& after, bool over) {
  if (!options_.apply) return Status::Done();
  return connections_.Run(options_.shard, [&](mysql::Connection& connection) {
    mysql::MoveRestorePlace(connection, reverse, after, over);
  });
}

}  // namespace fanline::feedctl
