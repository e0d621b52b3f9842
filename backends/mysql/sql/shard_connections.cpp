#include "backends/mysql/sql/shard_connections.h"

#include "fanline/base/check.h"
#include "fanline/base/mono_now.h"

namespace fanline::mysql {

ShardConnections::ShardConnections(const Config& config, Connection::Options options, Away away)
    : config_(config), away_(std::move(away)) {
  for (Shard shard = 0; shard < config_.shards.size(); ++shard) {
    slots_.emplace_back().connection = std::make_unique<Connection>(config_, shard, options);
  }
}

Status ShardConnections::Run(Shard shard, const std::function<void(Connection&)>& call) {
  FANLINE_CHECK(shard < slots_.size(), "a shard of this installation");
  if (away_ && away_(shard)) return Status::Later(ResourceOf(shard), "known to be away");
  Slot& slot = slots_[shard];
  try {
    if (RunOnOpen(slot, call)) return Status::Done();
    Open(slot);
    call(*slot.connection);
    return Status::Done();
  } catch (const MysqlError& error) {
    if (config_.resource.empty()) return StatusOf(error, shard);
    return StatusOf(error, config_.resource);
  }
}

Status ShardConnections::ReadTruth(Shard shard, const std::function<void(Connection&)>& call) {
  return Run(shard, [&](Connection& connection) {
    call(connection);
    connection.RequirePrimary();
  });
}

Status ShardConnections::ReadUnconfirmed(Shard shard,
                                         const std::function<void(Connection&)>& call) {
  const Status status = Run(shard, call);
  if (status.done()) {
    slots_[shard].unconfirmed = true;
  } else {
    ForgetReads();
  }
  return status;
}

Status ShardConnections::Confirm() {
  Status status = Status::Done();
  for (Shard shard = 0; shard < slots_.size() && status.done(); ++shard) {
    if (!slots_[shard].unconfirmed) continue;
    status = Run(shard, [](Connection& connection) { connection.RequirePrimary(); });
    // A different server may have answered now than answered the reads.
    if (status.done() && slots_[shard].lost) {
      status = Status::Later(config_.resource.empty() ? ResourceOf(shard) : config_.resource,
                             "the connection was lost between reads");
    }
  }
  ForgetReads();
  return status;
}

void ShardConnections::ForgetReads() {
  for (Slot& slot : slots_) slot.unconfirmed = slot.lost = false;
}

// Returns false if there was no open connection or it was found dead. A connection lost by a
// timeout is not tried again, because the caller has waited long enough.
bool ShardConnections::RunOnOpen(Slot& slot, const std::function<void(Connection&)>& call) {
  if (!slot.connection->is_open()) return false;
  const Time begin = MonoNow();
  try {
    slot.connection->CheckPrimary(begin);
    call(*slot.connection);
    return true;
  } catch (const MysqlError&) {
    const bool timed_out = MonoNow() - begin >= config_.read_timeout;
    if (slot.connection->is_open() || timed_out) throw;
    return false;
  }
}

void ShardConnections::Open(Slot& slot) {
  if (slot.failed_attempts > 0 && MonoNow() < slot.next_attempt) {
    throw *slot.why;
  }
  slot.lost = slot.unconfirmed;
  try {
    slot.connection->Open();
    slot.failed_attempts = 0;
  } catch (const MysqlError& error) {
    slot.connection->Close();
    ++slot.failed_attempts;
    slot.next_attempt = MonoNow() + config_.reopen.Delay(slot.failed_attempts, random_());
    slot.why = error;
    throw;
  }
}

}  // namespace fanline::mysql
