// The shards that stack/with-stack started, with empty tables at the start of each test.
#pragma once

#include <string>
#include <vector>

#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/connection.h"
#include "fanline/base/log_sink.h"
#include "fanline/model/bucket.h"
#include "fanline/model/event.h"
#include "fanline/model/ids.h"
#include "fanline/model/post_state.h"

namespace fanline::mysql {

// From FANLINE_MYSQL_SHARDS, FANLINE_MYSQL_USER and FANLINE_MYSQL_PASSWORD.
Config ConfigFromEnvironment();

// Whether the shards are MySQL's, and not MariaDB's.
bool OnMySql();

inline const LogSink kNoLog = [](LogLevel, const std::string&) {};

// What "SHOW ..." counts, added up.
int64_t Counted(Connection& connection, const std::string& what);

// False: that connection is gone by itself.
bool KillIfThere(Connection& connection, const std::string& id);

// To stand behind FROM: a column seq with 1 to `last`.
std::string Numbers(uint64_t last);

// Also where there is one already. `rest`: "(parameters) body".
void MakeProcedure(Connection& connection, const std::string& name, const std::string& rest);

class Shards {
 public:
  Shards();  // drops and creates all tables on all shards

  const Config& config() const { return config_; }
  const ShardMap& map() const { return map_; }
  Shard count() const { return static_cast<Shard>(config_.shards.size()); }
  Connection& on(Shard shard) { return *connections_[shard]; }
  Connection& of(UserId user) { return on(map_.ShardOf(user)); }

  // The number that a statement returns; Total adds it up over all shards.
  int64_t Number(Shard shard, const std::string& sql);
  int64_t Total(const std::string& sql);

  // Writes rows directly, without the code under test.
  void PutFollower(UserId dst, UserId src, bool live = true);
  void PutFollowers(UserId dst, const std::vector<UserId>& sources);
  void PutPost(UserId author, PostId post, const PostState& state);
  PostState ReadPost(UserId author, PostId post);  // no row: default

  // The n-th user, from 1, whose rows lie on `shard`.
  UserId UserOn(Shard shard, uint64_t n) const;

 private:
  const Config config_ = ConfigFromEnvironment();
  const ShardMap map_ = ShardMap::Even(static_cast<uint32_t>(config_.shards.size()));
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace fanline::mysql
