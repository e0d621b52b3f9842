// One connection per shard for blocking callers, opened when first used. After a failed attempt to
// connect, calls fail at once with the same error until the back-off is over. So a shard that is
// away costs its callers a connect timeout now and then, not each time. One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/errors.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"

namespace fanline::mysql {

class ShardConnections {
 public:
  // Whether a shard is known to be away, by a prober that keeps asking it. Called on the caller's
  // thread.
  using Away = std::function<bool(Shard shard)>;

  // `away` may be empty. While it returns true, calls to that shard fail at once.
  explicit ShardConnections(const Config& config, Connection::Options options = {}, Away away = {});

  const Config& config() const { return config_; }

  // Runs `call` and maps its MysqlError to a Status. If an idle connection turns out to be dead,
  // `call` runs a second time on a new one, so it must be idempotent.
  Status Run(Shard shard, const std::function<void(Connection&)>& call);
  // Run for a call that only reads and whose result is acted on as the truth. Not done unless the
  // server was the primary until the end of the call.
  Status ReadTruth(Shard shard, const std::function<void(Connection&)>& call);

  // Run for several reads that are acted on together. Their results are the truth only if Confirm
  // is done; it asks each shard that was read once. A read that fails discards the reads before it:
  // the next read begins a new set.
  Status ReadUnconfirmed(Shard shard, const std::function<void(Connection&)>& call);
  Status Confirm();
  // Forgets the reads made so far: Confirm no longer covers them.
  void ForgetReads();

 private:
  struct Slot {
    std::unique_ptr<Connection> connection;
    bool unconfirmed = false;  // something was read since the last Confirm
    bool lost = false;         // its connection was closed after such a read
    uint32_t failed_attempts = 0;
    Time next_attempt{};
    std::optional<MysqlError> why;  // the error of the last attempt
  };

  bool RunOnOpen(Slot& slot, const std::function<void(Connection&)>& call);
  void Open(Slot& slot);

  const Config config_;
  const Away away_;
  std::vector<Slot> slots_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace fanline::mysql
