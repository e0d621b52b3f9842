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
  explicit ShardConnections(const Config& config, Connection::Options options = {});

  const Config& config() const { return config_; }

  // Runs `call` and maps its MysqlError to a Status. If an idle connection turns out to be dead,
  // `call` runs a second time on a new one, so it must be idempotent.
  Status Run(Shard shard, const std::function<void(Connection&)>& call);
  // Run for a call that only reads and whose result is acted on as the truth. Not done unless the
  // server was the primary until the end of the call.
  Status ReadTruth(Shard shard, const std::function<void(Connection&)>& call);

 private:
  struct Slot {
    std::unique_ptr<Connection> connection;
    uint32_t failed_attempts = 0;
    Time next_attempt{};
    std::optional<MysqlError> why;  // the error of the last attempt
  };

  bool RunOnOpen(Slot& slot, const std::function<void(Connection&)>& call);
  void Open(Slot& slot);

  const Config config_;
  std::vector<Slot> slots_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace fanline::mysql
