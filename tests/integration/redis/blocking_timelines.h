// Live timelines as tests ask for them: words for each request, and the outcome beside the reply.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/redis/reader_timelines.h"

namespace fanline::redis {

struct BlockingTimelines : RedisReaderTimelines {
  using RedisReaderTimelines::RedisReaderTimelines;

  Status Begin(UserId reader, const std::string& token, RebuildBegun* begun) {
    const RebuildBegan reply = Do(BeginRebuild{0, reader, token});
    *begun = reply.begun;
    return reply.status;
  }
  Status Finish(UserId reader, const std::string& token, const std::vector<Item>& items,
                Floor floor, const std::vector<UserId>& marked, bool* applied) {
    const RebuildFinished reply = Do(FinishRebuild{0, reader, token, items, floor, marked});
    *applied = reply.applied;
    return reply.status;
  }
  Status Abandon(UserId reader, const std::string& token) {
    return Do(AbandonRebuild{0, reader, token}).status;
  }
  Status Read(UserId reader, const std::optional<Position>& after, uint32_t limit, LivePage* page) {
    LivePageRead reply = Do(ReadLivePage{0, reader, after, limit});
    *page = std::move(reply.page);
    return reply.status;
  }
};

}  // namespace fanline::redis
