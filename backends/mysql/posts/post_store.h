// The dispatcher's writes of truth (fanline/ports/post_store.h).
//
// One request is one transaction, after a read of the authors' modes. It writes the rows of all its
// posts in one upsert in primary key order, then the authors' last_at, then reads back what the
// dispatcher must know of each event. After the commit it reads the authors' counters and, if
// requested, their followers. The victim of a deadlock starts over, a few
// times. With more than one thread per shard, requests may be committed in any order, which the
// rule of ApplyEvent allows.
#pragma once

#include "backends/mysql/sql/shard_port.h"
#include "fanline/ports/post_store.h"

namespace fanline::mysql {

struct PostService {
  static constexpr const char* kName = "posts";
  static constexpr PoolLimits kLimits{.queue = 1024};  // requests, each with many events

  EventsApplied Do(Connection& connection, const ApplyEvents& request);
  ShownRead Do(Connection& connection, const ReadShown& request);
  AuthorAnnounced Do(Connection& connection, const AnnounceAuthor& request);
  AuthorSwitched Do(Connection& connection, const SwitchAuthor& request);
};
using MysqlPostStore = ShardPort<PostService, ApplyEvents, ReadShown, AnnounceAuthor, SwitchAuthor>;

}  // namespace fanline::mysql
