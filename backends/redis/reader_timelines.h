// Live timelines on a real Redis, for one reader: rebuilding, reading and dropping. Blocking; one
// object per thread. It is a server of TimelinePort whose replies come within Submit. After a
// timeout a request may have been carried out. The next BeginRebuild then finds kBusy until the
// token's TTL ends; a repeated FinishRebuild reports that its token is gone, and the rebuild starts
// again.
#pragma once

#include "backends/redis/cluster/masters.h"
#include "backends/redis/keys.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::redis {

class RedisReaderTimelines : public ServesAll<RedisReaderTimelines, ReadLivePage, BeginRebuild,
                                              FinishRebuild, AbandonRebuild> {
 public:
  explicit RedisReaderTimelines(const Options& options);

  template <class R>
  void Serve(const R& request, ReplyTo<typename R::Reply> to) {
    to(Do(request));
  }
  LivePageRead Do(const ReadLivePage& request);
  RebuildBegan Do(const BeginRebuild& request);
  RebuildFinished Do(const FinishRebuild& request);
  RebuildAbandoned Do(const AbandonRebuild& request);
  // Deletes the timeline, whatever its key holds, as if it had expired. This is always safe: its
  // reader is served by pulls until it is live again, and the index may name readers who are not
  // live.
  Status Drop(UserId reader);

 private:
  const Options options_;
  const Keys keys_;
  Masters masters_;
};

}  // namespace fanline::redis
