// Requests about the owners of ranges, their epochs and their starts.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "backends/mysql/installation/range_owners.h"
#include "tests/integration/mysql/model/world.h"

namespace fanline::mysql::model {

struct Owners {
  World& world;

  fakes::FakeMysql& fake = world.fake;
  MysqlRangeOwners owners{
      world.shards.config(), HealthSink(), kNoLog, {world.shards.map(), world.layout}};
  std::map<Range, uint64_t> epochs{};

  std::string Draw() {
    const uint64_t dice = world.Below(100);
    const auto range = static_cast<Range>(world.Below(2) * 3);  // on either shard
    if (dice < 30) return Give(AcquireRange{0, range, Start()});
    if (dice < 40) return Give(RaiseEpoch{0, range, Above(range), Start()});
    if (dice < 75) return Give(SaveStart{0, range, Epoch(range), Offset(), Start()});
    if (dice < 98) return Give(SettleRange{0, range, Start(), Lasted(range), world.OneIn(2)});
    return Lose(range);
  }

  // One of few tokens, fewer than the starts that are kept per range.
  uint64_t Start() { return world.OneIn(2) ? 1 + world.Below(4) : kHuge + world.Below(4); }
  int64_t Offset() { return static_cast<int64_t>(world.Below(5)) - 1; }
  uint64_t Epoch(Range range) {
    const uint64_t behind = world.OneIn(4) ? world.Below(3) : 0;
    return epochs[range] - std::min(behind, epochs[range]);
  }
  uint64_t Above(Range range) {
    return world.OneIn(20) ? kHuge + world.Below(5) : epochs[range] + world.Below(4);
  }
  uint64_t Lasted(Range range) { return world.OneIn(2) ? 0 : Epoch(range); }

  template <class R>
  std::string Give(const R& request) {
    const RangeOwned expected = fake.Do(request);
    EXPECT_EQ(Text(Ask(owners, request)), Text(expected));
    epochs[request.range] = expected.epoch;
    return "owner of " + std::to_string(request.range);
  }

  // Like a restore.
  std::string Lose(Range range) {
    const Shard shard = world.shards.map().ShardOf(world.layout.First(range));
    for (const char* table : {"range_owner", "range_start"}) {
      world.shards.on(shard).Execute(std::string("DELETE FROM ") + table +
                                     " WHERE range_id = " + std::to_string(range));
    }
    fake.LoseOwner(range);
    epochs[range] = 0;
    return "owner lost";
  }
};

}  // namespace fanline::mysql::model
