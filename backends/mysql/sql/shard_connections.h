// One connection per shard for blocking callers, opened when first used. After a failed attempt
// the next ones fail at once, as it did, until the back-off is over, so a shard that is away costs
// its callers a connect timeout now and then, not each time. One thread at a time.
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
  // Whether a prober that asks all the time knows that a shard does not answer. Called on the
  // caller's thread.
  using Away = std::function<bool(Shard shard)>;

  // `away` may be empty. While it says so of a shard, calls to that shard fail at once.
  explicit ShardConnections(const Config& config, Connection::Options options = {}, Away away = {});

  const Config& config() const { return config_; }

  // Runs `call` and maps its MysqlError to a Status. When a connection that had been idle turns out
  // to be dead, `call` runs a second time on a new one: it must be idempotent.
  Status Run(Shard shard, const std::function<void(Connection&)>& call);
  // The same for a call that only reads, and whose answers are acted on as the truth: not done
  // unless the server was the primary until its end.
  Status ReadTruth(Shard shard, const std::function<void(Connection&)>& call);

  // The same for several reads that are acted on together: what they answered is the truth only if
  // Confirm says so. It asks each shard that was read once. A read that fails is all there is to
  // say of those before it: the next begins anew.
  Status ReadUnconfirmed(Shard shard, const std::function<void(Connection&)>& call);
  Status Confirm();
  // Confirm will not speak of what was read until now.
  void ForgetReads();

 private:
  struct Slot {
    std::unique_ptr<Connection> connection;
    bool unconfirmed = false;  // something was read since the last Confirm
    bool lost = false;         // and its connection was closed since
    uint32_t failed_attempts = 0;
    Time next_attempt{};
    std::optional<MysqlError> why;  // of the last of them
  };

  bool RunOnOpen(Slot& slot, const std::function<void(Connection&)>& call);
  void Open(Slot& slot);

  const Config config_;
  const Away away_;
  std::vector<Slot> slots_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace fanline::mysql
