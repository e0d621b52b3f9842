// The bells of the shards (fanline/ports/log_bell.h): for each shard that somebody listens to, a
// thread that reads its server's binary log as a replica does.
//
// A link to the log begins where the log ends. No place is ever saved, so nothing depends on what a
// server has purged. What passes while there is no link is not told.
//
// Submit: any thread, never blocks. Replies come from the threads, and from within Submit. The
// destructor waits for a heartbeat (BinlogLink), or for an attempt to connect.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "backends/mysql/binlog/binlog_link.h"
#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/errors.h"
#include "fanline/base/log_limiter.h"
#include "fanline/base/log_sink.h"
#include "fanline/base/time.h"
#include "fanline/ports/log_bell.h"
#include "fanline/ports/port.h"

namespace fanline::mysql {

class MysqlLogBell final : public ServesAll<MysqlLogBell, HearLog> {
 public:
  static constexpr Duration kPatience = std::chrono::seconds(1);  // then nothing is the answer
  static constexpr Duration kUnasked = std::chrono::milliseconds(500);  // then a bell is taken down
  static constexpr size_t kMostIds = 16'384;  // kept per shard; others are not

  // `seed`: any 64 random bits, others in each process. The threads call `log`.
  MysqlLogBell(const Config& config, LogSink log, uint64_t seed);
  ~MysqlLogBell();

  void Serve(HearLog request, ReplyTo<LogHeard> to);

 private:
  struct ShardState {
    std::mutex mutex;
    std::condition_variable news;
    // Guarded by mutex.
    std::optional<Submitted<HearLog>> asked;
    Time asked_at{};
    std::vector<uint64_t> heard;  // and not told yet
    bool anew = false;
    bool begun = false;  // nobody was answered since the bell was hung up
  };

  void Work(Shard shard, ShardState& state, uint64_t seed);
  // Until the link is lost (throws MysqlError), or nobody wants it any more.
  void Listen(Shard shard, ShardState& state, uint32_t server_id);
  bool IsWanted(ShardState& state) const;
  static void Tell(ShardState& state, const std::vector<uint64_t>& ids);
  void Fail(Shard shard, ShardState& state, const MysqlError& error);

  const Config config_;
  LogLimiter log_;
  std::atomic<bool> stopping_ = false;
  std::deque<ShardState> shards_;
  std::vector<std::thread> threads_;
};

}  // namespace fanline::mysql
