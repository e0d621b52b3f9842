#include "backends/mysql/sql/shard_connections.h"

#include "fanline/base/check.h"
#include "fanline/base/mono_now.h"

namespace fanline::mysql {

ShardConnections::ShardConnections(const Config& config, Connection::Options options)
    : config_(config) {
  for (Shard shard = 0; shard < config_.shards.size(); ++shard) {
    slots_.emplace_back().connection = std::make_unique<Connection>(config_, shard, options);
  }
}

Status ShardConnections::Run(Shard shard, const std::function<void(Connection&)>& call) {
  FANLINE_CHECK(shard < slots_.size(), "a shard of this installation");
  Slot& slot = slots_[shard];
  try {
    if (RunOnOpen(slot, call)) return Status::Done();
    Open(slot);
    call(*slot.connection);
    return Status::Done();
  } catch (const MysqlError& error) {
    return StatusOf(error, config_, shard);
  }
}

Status ShardConnections::ReadTruth(Shard shard, const std::function<void(Connection&)>& call) {
  return Run(shard, [&](Connection& connection) {
    call(connection);
    connection.RequirePrimary();
  });
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
