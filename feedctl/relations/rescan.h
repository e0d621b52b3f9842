// Compares what relation-log says of edges with their rows, now, on the shards: the log scan's look
// (reconciler/later_reconciler.h) without its wait. One thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "backends/kafka/producer.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/installation/installation.h"
#include "backends/mysql/repairs/repair_store.h"
#include "feedctl/support/settings.h"
#include "reconciler/edge_comparer.h"

namespace fanline::feedctl {

struct RescanOptions {
  bool apply = false;
  uint32_t edges_per_second = 5'000;  // per shard of followers
  std::optional<Shard> shard;         // only edges with a row there
  uint64_t closings = 0;              // the breakers' last closing
  uint32_t removals_per_minute = 1'000;
  uint32_t show = 10;
};

// An edge that differs and was not repaired.
struct EdgeFound {
  EdgeKey edge;
  std::string what;  // "missing", "lost", ..., or why no repair can help
};

class Rescan : public reconciler::Metrics, public ServesAll<Rescan, AppendRetries> {
 public:
  Rescan(const Settings& settings, const mysql::Installation& installation,
         const RescanOptions& options);

  // Messages in any order. Of an edge the highest version counts.
  void Take(const RelationMessage& message);
  // Compares the edges of the messages taken since the last call; ends early once `stop` says so.
  void Compare(const std::function<bool()>& stop);

  uint64_t compared() const { return compared_; }
  // Edges that differ and were not repaired, and those that were, by what was wrong with them.
  uint64_t differing() const { return differing_; }
  uint64_t repaired() const { return repaired_; }
  const std::map<std::string, uint64_t>& causes() const { return causes_; }
  // Given to relation-log.retry, or in a dry run what would be: edges of a shard that is away, and
  // repairs that take a follower away, which need a second check.
  uint64_t left() const { return left_; }
  size_t waiting() const { return edges_.size(); }
  const std::vector<EdgeFound>& named() const { return named_; }  // the first that differ

  void Serve(const AppendRetries& request, ReplyTo<RetriesAppended> to);  // for the comparer

 private:
  using Reply = std::variant<reconciler::CheckerReply, reconciler::ComparerReply>;
  struct Inbox {
    void Push(Reply reply);
    std::vector<Reply> Await(std::optional<Time> until);

    std::mutex mutex;
    std::condition_variable came;
    std::vector<Reply> replies;  // guarded by mutex
  };

  void Repaired(Net, const reconciler::Verdict& verdict, Duration) override;
  void WouldRepair(const EdgeKey& edge, const reconciler::Verdict& verdict) override;
  void Hopeless(const EdgeKey& edge, const std::string& why) override;
  void Name(const EdgeKey& edge, const std::string& what);
  reconciler::EdgeComparer::Ports Ports();

  const RescanOptions options_;
  const ShardMap map_;
  Inbox inbox_;
  std::unordered_map<EdgeKey, EdgeClaim> edges_;
  uint64_t compared_ = 0, differing_ = 0, repaired_ = 0, left_ = 0;
  std::map<std::string, uint64_t> causes_;
  std::vector<EdgeFound> named_;
  reconciler::RepairGate gate_;
  // Their threads answer into the inbox.
  mysql::MysqlChangeStore changes_;
  mysql::MysqlRepairStore store_;
  kafka::Producer producer_;
  reconciler::EdgeComparer comparer_;
};

}  // namespace fanline::feedctl
