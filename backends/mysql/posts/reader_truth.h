// The truth behind one reader's timeline (port ReaderTruth of fanline/ports/reader_ports.h).
// Blocking, bounded by the timeouts of Config per statement; one object per thread.
//
// Sized for a reader of thousands of authors: 5,000 followees are one statement, their last_at a
// handful, and so are their newest items. Whatever the authors hold, Items reads about `limit`
// rows.
#pragma once

#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::mysql {

class MysqlReaderTruth : public ReaderTruth {
 public:
  // `away`: see ShardConnections; may be empty.
  MysqlReaderTruth(const Config& config, const ShardMap& map, ShardConnections::Away away = {});

  // Each of these two appends to *out, which holds what was read before the first failure.
  Status Followees(UserId reader, std::vector<UserId>* out) override;
  Status LastAt(const std::vector<UserId>& authors, std::vector<AuthorLastAt>* out) override;
  Status Items(const std::vector<PostsOf>& posts, const TimeSpan& span, uint32_t limit,
               ItemsRead* out) override;
  Status Confirm() override;
  void ForgetReads() override { connections_.ForgetReads(); }
  Status Outbox(UserId author, const TimeSpan& span, uint32_t limit,
                std::vector<Item>* out) override;
  Status LookUp(UserId user, UserFacts* out) override;

 private:
  ShardConnections connections_;
  const ShardMap map_;
};

}  // namespace fanline::mysql
