// Live timelines as tests ask for them: words for each request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/redis/reader_timelines.h"

namespace fanline::redis {

struct BlockingTimelines : RedisReaderTimelines {
  using RedisReaderTimelines::RedisReaderTimelines;

  RebuildBegan Begin(UserId reader, const std::string& token) {
    return Do(BeginRebuild{0, reader, token});
  }
  RebuildFinished Finish(UserId reader, const std::string& token,
                         const std::vector<Item>& items = {}, Floor floor = kNoFloor,
                         const std::vector<Mark>& marks = {}, uint64_t mutes = 0) {
    return Do(FinishRebuild{0, reader, token, items, floor, marks, mutes});
  }
  LivePageRead Read(UserId reader, const std::optional<Position>& after = {}, uint32_t limit = 10,
                    bool in_front = false) {
    return Do(ReadLivePage{0, reader, after, limit, in_front});
  }
};

}  // namespace fanline::redis
