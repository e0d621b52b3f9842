// The other side of the rows about relations: what a program without our store would send through
// the same connections. Rows go into a table of the same columns and keys as ours, by one guarded
// upsert: the higher version wins, and nothing is counted, logged or told.
#pragma once

#include <span>
#include <string>

#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline::bench {

inline constexpr const char* kBareFollowing = "bare_following";
inline constexpr const char* kBareFollower = "bare_follower";

// Makes the bare table of ours on every shard where it is missing.
void MakeBareTable(mysql::ShardConnections& connections, const ShardMap& map,
                   const std::string& ours);

std::string UpsertFollowingSql(const Edge& row);
std::string UpsertFollowersSql(std::span<const Edge> rows);

// Opens the connection to every shard, so that it is not opened on the clock.
void OpenAll(mysql::ShardConnections& connections, const ShardMap& map);

// What a commit on this server survives, as the server says: "innodb_flush_log_at_trx_commit=2,
// ...".
std::string Durability(mysql::ShardConnections& connections);

}  // namespace fanline::bench
