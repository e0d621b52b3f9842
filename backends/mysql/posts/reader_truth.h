// The truth behind one reader's timeline, on the shards: the requests of
// fanline/ports/reader_ports.h.
//
// It suits readers of thousands of authors: 5,000 followees take one statement, and their last_at
// and their newest items a handful each. ReadItems reads about `limit` rows, whatever the authors
// hold.
#pragma once

#include "backends/mysql/sql/shards_here.h"
#include "fanline/ports/reader_truth.h"

namespace fanline::mysql {

struct ReaderService {
  FolloweesRead Do(Connection& connection, const ReadFollowees& request) const;
  LastAtRead Do(Connection& connection, const ReadLastAt& request) const;
  ItemsAnswered Do(Connection& connection, const ReadItems& request) const;
  ReadsConfirmed Do(Connection& connection, const ConfirmReads& request) const;
  OutboxRead Do(Connection& connection, const ReadOutbox& request) const;
  UserLookedUp Do(Connection& connection, const LookUpUser& request) const;
  MutesRead Do(Connection& connection, const ReadMutes& request) const;
  OriginalsRead Do(Connection& connection, const ReadOriginals& request) const;
  SourcesFound Do(Connection& connection, const FindSources& request) const;  // find_sources.cpp
};

struct TruthHere {
  ShardMap map_here;
  ShardsHere<ReaderService, ReadFollowees, ReadLastAt, ReadItems, ConfirmReads, ReadOutbox,
             LookUpUser, ReadMutes, ReadOriginals, FindSources>
      shards_here;
};

// For a caller that waits.
class MysqlReaderTruth : private TruthHere, public ReaderTruth {
 public:
  MysqlReaderTruth(const Config& config, const ShardMap& map)
      : TruthHere{map, {config}}, ReaderTruth(shards_here, map_here) {}
};

}  // namespace fanline::mysql
