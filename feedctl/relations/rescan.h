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
  uint32_t show = 10;
};

struct EdgeFound {
  EdgeKey edge;
  std::string what;  // "missing", "lost", ...
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
  uint64_t differing() const { return differing_; }
  const std::map<std::string, uint64_t>& causes() const { return causes_; }
  // Could not be read: a shard is away. To be repaired, they are given to relation-log.retry, as
  // those are that differ.
  uint64_t unread() const { return given_ - differing_; }
  size_t waiting() const { return edges_.size(); }
  const std::vector<EdgeFound>& named() const { return named_; }  // the first that differ

  void Serve(const AppendRetries& request, ReplyTo<RetriesAppended> to);  // for the comparer

 private:
  using Reply = reconciler::ComparerReply;
  struct Inbox {
    void Push(Reply reply);
    std::vector<Reply> Await(std::optional<Time> until);

    std::mutex mutex;
    std::condition_variable came;
    std::vector<Reply> replies;  // guarded by mutex
  };

  void Differs(const EdgeKey& edge, reconciler::Finding finding) override;
  reconciler::EdgeComparer::Ports Ports();

  const RescanOptions options_;
  const ShardMap map_;
  Inbox inbox_;
  std::unordered_map<EdgeKey, EdgeClaim> edges_;
  uint64_t compared_ = 0, differing_ = 0, given_ = 0;
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
