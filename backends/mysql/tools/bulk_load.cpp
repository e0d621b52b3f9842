#include "backends/mysql/tools/bulk_load.h"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"
#include "backends/mysql/tools/shard_load.h"

namespace fanline::mysql {
namespace {

using Reverse = std::tuple<UserId, uint16_t, UserId>;  // dst, bucket of src, src

// A statement here writes 100,000 rows or counts a whole table.
constexpr std::chrono::seconds kStatementTimeout{600};

NextRow ForwardRows(const std::vector<EdgeKey>& edges, const ShardMap& map, Shard shard) {
  return [&edges, &map, shard, at = size_t{0}](std::string& text) mutable {
    while (at < edges.size() && map.ShardOf(edges[at].src) != shard) ++at;
    if (at == edges.size()) return false;
    AppendId(text, edges[at].src);
    text += '\t';
    AppendId(text, edges[at].dst);
    text += '\n';
    ++at;
    return true;
  };
}

std::vector<Reverse> Reversed(const std::vector<EdgeKey>& edges, const ShardMap& map, Shard shard) {
  std::vector<Reverse> reversed;
  for (const auto& [src, dst] : edges) {
    if (map.ShardOf(dst) != shard) continue;
    reversed.emplace_back(dst, static_cast<uint16_t>(BucketOf(src)), src);
  }
  std::sort(reversed.begin(), reversed.end());
  return reversed;
}

NextRow ReverseRows(const std::vector<Reverse>& rows) {
  return [&rows, at = size_t{0}](std::string& text) mutable {
    if (at == rows.size()) return false;
    const auto& [dst, bucket, src] = rows[at++];
    AppendId(text, dst);
    text += '\t';
    AppendNumber(text, bucket);
    text += '\t';
    AppendId(text, src);
    text += '\n';
    return true;
  };
}

struct ShardResult {
  Status status;
  LoadCount forward, reverse;
  uint64_t users_over_limit = 0, edges_over_limit = 0;
};

void CountOverLimit(Connection& connection, uint32_t most_followed, ShardResult& result) {
  const std::string most = std::to_string(most_followed);
  connection.Query("SELECT COUNT(*), COALESCE(SUM(following_cnt - " + most +
                       "), 0) FROM user_rel WHERE following_cnt > " + most,
                   [&](const Row& row) {
                     result.users_over_limit = row.UInt64(1);
                     result.edges_over_limit = row.UInt64(2);
                   });
}

ShardResult LoadShard(const Config& config, const ShardMap& map, Shard shard,
                      const std::vector<EdgeKey>& edges, uint64_t unix_us, uint32_t most_followed,
                      const RowsSent& sent) {
  ShardResult result;
  try {
    Connection connection(config, shard, {.local_infile = true, .read_timeout = kStatementTimeout});
    connection.Open();
    ShardLoad load(connection, unix_us, sent);
    result.forward = load.LoadFollowing(ForwardRows(edges, map, shard));
    CountOverLimit(connection, most_followed, result);
    result.reverse = load.LoadFollower(ReverseRows(Reversed(edges, map, shard)));
  } catch (const MysqlError& error) {
    result.status = StatusOf(error, shard);
  } catch (const std::system_error& error) {
    result.status = Status::Later("memory", error.what());
  }
  return result;
}

Status CheckShard(Shard shard, const ShardResult& result) {
  if (!result.status.done()) return result.status;
  for (const auto& [table, count] :
       {std::pair("following", result.forward), std::pair("follower", result.reverse)}) {
    const std::string disagreement = DisagreementOf(count);
    if (disagreement.empty()) continue;
    return Status::Never(ResourceOf(shard) + ", table " + table + ": " + disagreement);
  }
  return Status::Done();
}

// Checks every shard by itself, then both directions against each other.
Status CheckAll(const std::vector<ShardResult>& results) {
  uint64_t forward = 0, reverse = 0;
  for (Shard shard = 0; shard < results.size(); ++shard) {
    if (Status status = CheckShard(shard, results[shard]); !status.done()) return status;
    forward += results[shard].forward.counted;
    reverse += results[shard].reverse.counted;
  }
  if (forward == reverse) return Status::Done();
  return Status::Never("the shards hold " + std::to_string(forward) + " forward and " +
                       std::to_string(reverse) + " reverse edges");
}

}  // namespace

Status BulkLoader::Load(uint64_t unix_us, const Progress& progress, Result* result) {
  const uint64_t given = edges_.size();
  SortUnique(edges_);
  *result = {.edges = edges_.size(), .repeated = given - edges_.size()};

  std::mutex mutex;
  uint64_t rows = 0;
  const RowsSent sent = [&](uint64_t more) {
    const std::lock_guard lock(mutex);
    rows += more;
    if (progress) progress(rows, 2 * result->edges);
  };
  std::vector<ShardResult> results(config_.shards.size());
  std::vector<std::thread> threads;
  for (Shard shard = 0; shard < results.size(); ++shard) {
    threads.emplace_back([&, shard] {
      results[shard] = LoadShard(config_, map_, shard, edges_, unix_us, most_followed_, sent);
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (const ShardResult& each : results) {
    result->already_there += each.forward.sent - each.forward.taken;
    result->users_over_limit += each.users_over_limit;
    result->edges_over_limit += each.edges_over_limit;
  }
  return CheckAll(results);
}

}  // namespace fanline::mysql
