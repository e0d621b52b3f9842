#include "api/config.h"

namespace fanline::api {

using namespace std::chrono_literals;

void AddOptions(daemon::OptionTable& table, Config& config) {
  config.daemon.admin.listen.port = 9405;
  daemon::AddOptions(table, config.daemon);
  table.Add("listen", &config.listen,
            "where requests are served; nobody is authenticated here, so beyond loopback only "
            "behind the application's gateway");
  options::AddOptions(table, config.mysql);
  Limits& limits = config.limits;
  options::AddFollowingLimit(table, &config.agreed.following_limit);
  table
      .Add("connections", &limits.connections,
           "clients connected at once; one more is answered with 503. Each costs a descriptor")
      .Range(1, 1'000'000);
  table
      .Add("threads", &limits.threads,
           "requests that use the shards at once; each holds up to one connection to every shard")
      .Range(1, 1'000);
  table
      .Add("queue", &limits.queue,
           "requests that wait for one of the threads; one more is answered with 503")
      .Range(1, 100'000);
  table
      .Add("longest-wait", &limits.longest_wait,
           "how long a request waits for one of them before it is answered with 503")
      .Range(1ms, 1min);
}

}  // namespace fanline::api
