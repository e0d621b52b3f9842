#include "backends/mysql/tools/bulk_load.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

using Given = BulkLoader::Given;
using Reverse = std::tuple<UserId, Bucket, UserId, Delivery>;  // dst, bucket of src, src
using RowsSent = std::function<void(uint64_t rows)>;

// A statement here writes 100,000 rows or counts a whole table.
constexpr std::chrono::seconds kStatementTimeout{600};
// In one transaction; bounds the undo log, shows progress.
constexpr uint64_t kRowsPerStatement = 100'000;

// A file in memory, for a library that requires a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : fd_(::memfd_create("fanline", MFD_CLOEXEC)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "memory file");
    while (!content.empty()) {
      const ssize_t written = ::write(fd_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const int error = errno;
        ::close(fd_);
        throw std::system_error(error, std::generic_category(), "memory file");
      }
      content.remove_prefix(static_cast<size_t>(written));
    }
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Valid in this process, while the object lives.
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

struct Direction {
  const char* table;
  const char* columns;
  const char* owner;  // the column of the user whom the counter counts for
  const char* counters;
  const char* counter;
};
constexpr Direction kForward = {"following", "src, dst, delivery", "src", "user_rel",
                                "following_cnt"};
constexpr Direction kReverse = {"follower", "dst, bucket, src, delivery", "dst", "user_fan",
                                "fans_cnt"};

int NumberOf(const std::optional<Delivery>& delivery) {
  return static_cast<int>(delivery.value_or(Delivery::kAll));
}

// The rows that one direction of one shard was given, and the result.
struct LoadCount {
  uint64_t rows_before = 0;  // including tombstones
  uint64_t live_before = 0;
  uint64_t sent = 0;
  uint64_t taken = 0;
  uint64_t counted = 0;  // sum of the counters afterwards
};

// One shard's part: two tables of edges, two of counters, and the numbers that check them.
class ShardLoad {
 public:
  ShardLoad(Connection& connection, uint64_t unix_us, RowsSent sent)
      : connection_(connection), unix_us_(unix_us), sent_(std::move(sent)) {}

  // Loads `rows`, which are in primary key order, and sets their counters. `append` writes the text
  // of a row, and returns false if it is another shard's. Throws MysqlError.
  template <class Rows, class Append>
  LoadCount Load(const Direction& direction, const Rows& rows, const Append& append) {
    const auto& [table, columns, owner, counters, counter] = direction;
    LoadCount count;
    count.rows_before = connection_.Number(Sql("SELECT COUNT(*) FROM ", table));
    count.live_before = connection_.Number(Sql("SELECT COUNT(*) FROM ", table, " WHERE state = 1"));
    std::string text;
    uint64_t waiting = 0;
    for (const auto& row : rows) {
      if (append(text, row) && ++waiting == kRowsPerStatement)
        Send(direction, text, waiting, count);
    }
    if (waiting > 0) Send(direction, text, waiting, count);
    connection_.Execute(Sql("INSERT INTO ", counters, " (user_id, ", counter, ") SELECT ", owner,
                            ", COUNT(*) FROM ", table,
                            " FORCE INDEX (PRIMARY) WHERE state = 1 GROUP BY ", owner,
                            " ON DUPLICATE KEY UPDATE ", counter, " = VALUES(", counter, ")"));
    count.counted =
        connection_.Number(Sql("SELECT COALESCE(SUM(", counter, "), 0) FROM ", counters));
    return count;
  }

 private:
  void Send(const Direction& direction, std::string& text, uint64_t& rows, LoadCount& count) {
    const MemoryFile file(text);
    count.taken += connection_.Execute(
        Sql("LOAD DATA LOCAL INFILE '", file.path(), "' INTO TABLE ", direction.table, " (",
            direction.columns, ") SET state = 1, ver = ", unix_us_, ", pos = ", unix_us_ / 1000));
    count.sent += rows;
    sent_(rows);
    text.clear();
    rows = 0;
  }

  Connection& connection_;
  const uint64_t unix_us_;
  const RowsSent sent_;
};

// "" if the numbers of one direction agree.
std::string DisagreementOf(const LoadCount& count) {
  if (count.sent - count.taken > count.rows_before) {
    return Sql(count.sent, " rows were sent and ", count.taken, " taken, but only ",
               count.rows_before, " can have been there already");
  }
  if (count.counted != count.live_before + count.taken) {
    return Sql("the counters add up to ", count.counted, ", not to the ",
               count.live_before + count.taken, " live rows");
  }
  return {};
}

std::vector<Reverse> Reversed(const std::vector<Given>& edges, const ShardMap& map, Shard shard) {
  std::vector<Reverse> reversed;
  for (const auto& [edge, delivery] : edges) {
    if (map.ShardOf(edge.dst) != shard) continue;
    reversed.emplace_back(edge.dst, BucketOf(edge.src), edge.src,
                          delivery.value_or(Delivery::kAll));
  }
  std::sort(reversed.begin(), reversed.end());
  return reversed;
}

struct ShardResult {
  Status status;
  LoadCount forward, reverse;
  uint64_t users_over_limit = 0, edges_over_limit = 0, chosen = 0;
};

// Of edges that were there before.
uint64_t ChangeDeliveries(Connection& connection, const ShardMap& map, Shard shard,
                          const std::vector<Given>& edges, uint64_t unix_us) {
  std::vector<EdgeKey> keys;
  std::vector<Delivery> wanted;
  for (const auto& [edge, delivery] : edges) {
    if (!delivery || map.ShardOf(edge.src) != shard) continue;
    keys.push_back(edge);
    wanted.push_back(*delivery);
  }
  uint64_t changed = 0;
  const std::vector<EdgeState> rows = StatesOf(connection, keys, ForwardRowsSql);
  for (size_t i = 0; i < keys.size(); ++i) {
    EdgeState row = rows[i];
    if (!row.live || row.delivery == wanted[i]) continue;
    // Above the reverse row too, which an import that was broken off and repeated has put at its
    // clock.
    row.ver = std::max(row.ver, unix_us) + 1;
    row.delivery = wanted[i];
    changed += AdoptForward(connection, EdgeOf(keys[i], row)).changed ? 1 : 0;
  }
  return changed;
}

void CountOverLimit(Connection& connection, uint32_t most_followed, ShardResult& result) {
  connection.Query(Sql("SELECT COUNT(*), COALESCE(SUM(following_cnt - ", most_followed,
                       "), 0) FROM user_rel WHERE following_cnt > ", most_followed),
                   [&](const Row& row) {
                     result.users_over_limit = row.UInt64(1);
                     result.edges_over_limit = row.UInt64(2);
                   });
}

ShardResult LoadShard(const Config& config, const ShardMap& map, Shard shard,
                      const std::vector<Given>& edges, uint64_t unix_us, uint32_t most_followed,
                      const RowsSent& sent) {
  ShardResult result;
  try {
    Connection connection(config, shard, {.local_infile = true, .read_timeout = kStatementTimeout});
    connection.Open();
    ShardLoad load(connection, unix_us, sent);
    result.forward = load.Load(kForward, edges, [&](std::string& text, const Given& given) {
      const auto& [edge, delivery] = given;
      const bool ours = map.ShardOf(edge.src) == shard;
      if (ours) AppendSql(text, edge.src, '\t', edge.dst, '\t', NumberOf(delivery), '\n');
      return ours;
    });
    CountOverLimit(connection, most_followed, result);
    const std::vector<Reverse> reversed = Reversed(edges, map, shard);
    connection.Open();  // sorting may outlast what a server waits for an idle session
    result.reverse = load.Load(kReverse, reversed, [](std::string& text, const Reverse& row) {
      const auto& [dst, bucket, src, delivery] = row;
      AppendSql(text, dst, '\t', bucket, '\t', src, '\t', NumberOf(delivery), '\n');
      return true;
    });
    if (result.forward.taken < result.forward.sent) {
      result.chosen = ChangeDeliveries(connection, map, shard, edges, unix_us);
    }
  } catch (const MysqlError& error) {
    result.status = StatusOf(error, shard);
  } catch (const std::system_error& error) {
    result.status = Status::Later("memory", error.what());
  }
  return result;
}

// Sorts by edge. Of equal edges one stays, with the last delivery given.
void MakeUnique(std::vector<Given>& edges) {
  const auto before = [](const Given& a, const Given& b) { return a.key < b.key; };
  std::stable_sort(edges.begin(), edges.end(), before);
  auto end = edges.begin();
  for (const Given& given : edges) {
    if (end == edges.begin() || (end - 1)->key != given.key) {
      *end++ = given;
    } else if (given.delivery) {
      (end - 1)->delivery = given.delivery;
    }
  }
  edges.erase(end, edges.end());
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
  MakeUnique(edges_);
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
    result->chosen += each.chosen;
    result->users_over_limit += each.users_over_limit;
    result->edges_over_limit += each.edges_over_limit;
  }
  return CheckAll(results);
}

}  // namespace fanline::mysql
