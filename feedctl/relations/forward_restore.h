// Rebuilds the forward rows of one shard from the reverse rows of all shards
// (backends/mysql/tools/forward_restore.h), page after page. One thread.
//
//   page of reverse rows -> forward rows and counters committed -> hints acknowledged -> place kept
//
// The place is kept last, so a page that was interrupted is done again, with its hints: of rows
// that are equal, too, since an earlier run may have been killed before it sent theirs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/kafka/producer.h"
#include "backends/mysql/installation/installation.h"
#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/tools/forward_restore.h"
#include "feedctl/events/acknowledgements.h"
#include "feedctl/events/pace.h"
#include "feedctl/support/interrupt.h"
#include "feedctl/support/progress.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

struct RestoreOptions {
  Shard shard = 0;  // whose forward rows are rebuilt
  bool apply = false;
  bool anew = false;                  // from the first row on, whatever an earlier restore has done
  uint32_t rows_per_second = 20'000;  // of followers, read
};

class ForwardRestore {
 public:
  ForwardRestore(const Settings& settings, const mysql::Installation& installation,
                 const RestoreOptions& options);

  // Ends early once `interrupt` is requested. Done: all rows were passed, or it was interrupted.
  Status Run(const Interrupt& interrupt);

  bool complete() const { return complete_; }
  // When the restore began that this one went on with.
  std::optional<UnixMs> resumed() const { return resumed_; }
  uint64_t read() const { return read_; }          // rows of followers, by this run
  uint64_t of_shard() const { return of_shard_; }  // of them: whose src is of the shard
  uint64_t hints() const { return hints_; }
  const mysql::ForwardRestored& rows() const { return rows_; }

 private:
  Status Begin();
  Status End();
  Status Walk(Shard reverse, const Interrupt& interrupt);
  Status Restore(const std::vector<Edge>& page);
  Status SendHints(const std::vector<Edge>& rows);
  Status KeepPlace(Shard reverse, const mysql::FollowerPlace& after, bool over);

  const mysql::Config config_;
  const mysql::Installation& installation_;
  const RestoreOptions options_;
  mysql::ShardConnections connections_;
  Acknowledgements acknowledged_;
  std::unique_ptr<kafka::Producer>
      producer_;  // none in a dry run; its thread answers into the above
  std::map<Shard, mysql::RestorePlace> places_;
  std::optional<UnixMs> resumed_;
  bool complete_ = false;
  uint64_t read_ = 0, of_shard_ = 0, hints_ = 0;
  mysql::ForwardRestored rows_;
  Pace pace_;
  Progress progress_;
};

}  // namespace fanline::feedctl
