#include "backends/redis/range_states.h"

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/cluster/masters.h"
#include "backends/redis/keys.h"
#include "backends/redis/requests.h"
#include "fanline/base/number.h"

namespace fanline::redis {
namespace {

Status Read(BlockingConnection& connection, const Keys& keys, RangeState& state) {
  CommandBuffer commands;
  commands.Command("GET", keys.Own(state.range));
  commands.Command("GET", keys.Pos(state.range));
  commands.Command("ZSCORE", keys.Live(state.range), "#complete");
  commands.Command("ZCOUNT", keys.Live(state.range), kAboveMarks, kAboveReaders);
  size_t next = 0;
  return connection.Pipeline(commands, 4, [&](const redisReply& reply) {
    switch (next++) {
      case 0:
        state.owner = ParseNumber<uint64_t>(Text(reply)).value_or(0);
        break;
      case 1:
        state.position = ParsePosition(Text(reply), keys.layout());
        break;
      case 2:
        state.index_complete = !Text(reply).empty();
        break;
      default:
        state.readers = static_cast<uint64_t>(Integer(reply).value_or(0));
    }
    return Status::Done();
  });
}

}  // namespace

Status ReadRangeStates(const Options& options, std::vector<RangeState>* out) {
  Masters masters(options);
  if (Status status = masters.Refresh(Masters::Ask::kAll); !status.done()) return status;
  const Keys keys(options);
  std::string away;  // the last node that did not answer; not asked again
  Status why;
  for (Range range = 0; range < static_cast<Range>(options.partitions); ++range) {
    RangeState state;
    state.range = range;
    state.slot = SlotOf(keys.Home(range));
    const Endpoint* master = masters.map().MasterOf(keys.Home(range));
    if (master == nullptr) {
      state.status = Away("no node of the redis cluster serves slot " + std::to_string(state.slot));
    } else {
      state.master = ToString(*master);
      state.status = state.master == away ? why : Read(masters.At(*master), keys, state);
      if (masters.At(*master).asks() == ErrorAction::kLeaveNode) {
        away = state.master;
        why = state.status;
      }
    }
    out->push_back(std::move(state));
  }
  return Status::Done();
}

}  // namespace fanline::redis
