// The truth behind one reader's timeline (port ReaderTruth of fanline/ports/reader_ports.h).
// Blocking, limited by the timeouts of Config per statement; one object per thread.
//
// It suits readers of thousands of authors: 5,000 followees take one statement, and their last_at
// and their newest items a handful each. Items reads about `limit` rows, whatever the authors hold.
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

  // These two append to *out. After a failure it holds what was read before.
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
