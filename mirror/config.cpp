#include "mirror/config.h"

namespace fanline::mirror {

void AddOptions(daemon::OptionTable& table, Config& config) {
  config.daemon.admin.listen.port = 9403;
  daemon::AddOptions(table, config.daemon);
  options::AddOptions(table, config.kafka);
  options::AddRelationEventsTopic(table, config.topics);
  table.Add("group", &config.group, "its consumer group on the relation events is <group>-events");
  options::AddOptions(table, config.mysql);
  Limits& limits = config.limits;
  table.Add("edges-per-transaction", &limits.edges_per_transaction, "reverse rows written at once")
      .Range(1, 5'000);
  table
      .Add("records-open", &limits.records_open,
           "relation events under way before consuming them is paused")
      .Range(16, 1'000'000);
  options::AddGather(table, &config.gather);
  table.Add("oldest-record", &limits.oldest_record,
            "events older than this are refused: tombstones may have been collected since");
}

}  // namespace fanline::mirror
