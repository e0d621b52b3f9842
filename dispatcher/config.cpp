#include "dispatcher/config.h"

namespace fanline::dispatcher {

void AddOptions(daemon::OptionTable& table, Config& config) {
  config.daemon.admin.listen.port = 9401;
  daemon::AddOptions(table, config.daemon);
  options::AddOptions(table, config.kafka);
  options::AddFeedTopic(table, config.topics);
  table.Add("group", &config.group, "consumer group on the feed topic");
  options::AddOptions(table, config.mysql);
  Limits& limits = config.limits;
  table.Add("events-per-transaction", &limits.events_per_transaction, "events stored at once")
      .Range(1, 5'000);
  table.Add("events-open", &limits.events_open, "events under way before consuming is paused")
      .Range(16, 1'000'000);
  options::AddGather(table, &limits.gather);
  table
      .Add("sample-rate", &limits.sample_rate,
           "share of publishes measured from publish to delivery")
      .Range(0, 1);
  table.Add("oldest-record", &limits.oldest_record,
            "records older than this are refused: rows may have been collected since");
  table.Add("furthest-future", &limits.furthest_future, "how far in the future created_at may lie");
}

}  // namespace fanline::dispatcher
