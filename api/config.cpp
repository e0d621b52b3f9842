#include "api/config.h"

#include "api/door.h"

namespace fanline::api {

using namespace std::chrono_literals;

namespace {

void AddPageOptions(daemon::OptionTable& table, Limits& limits) {
  table
      .Add("page-threads", &limits.page_threads,
           "pages that ask Redis at once; each holds a connection to every node")
      .Range(1, 1'000);
  table
      .Add("pull-threads", &limits.pull_threads,
           "pages that use the shards at once: those of authors, and what no live timeline holds; "
           "each holds up to one connection to every shard")
      .Range(1, 1'000);
  table
      .Add("pull-queue", &limits.pull_queue,
           "pages that wait for one of those; one more is answered with 503")
      .Range(1, 1'000'000);
  table
      .Add("longest-pull-wait", &limits.longest_pull_wait,
           "how long a page waits for one of them before it is answered with 503")
      .Range(1ms, 1min);
  table
      .Add("newest-overlap", &limits.newest_overlap,
           "how late a post may come in and still be shown to who asks for what is new; posts of "
           "that time are shown to them again")
      .Range(0ms, 10min);
  table
      .Add("rebuild-threads", &limits.rebuild_threads,
           "timelines made live at once; each holds up to one connection to every shard and node")
      .Range(1, 64);
  table
      .Add("bodies-threads", &limits.bodies_threads,
           "pages that ask the application's database for bodies at once; each holds a connection "
           "to it")
      .Range(1, 1'000);
}

void AddPublishOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.kafka);
  table
      .Add("publish-queue", &config.limits.publish_queue,
           "posts that wait for Kafka's acknowledgement; one more is answered with 503")
      .Range(1, 100'000);
  table
      .Add("publish-timeout", &config.limits.publish_timeout,
           "how long Kafka may take to acknowledge a post before it is answered with 503")
      .Range(100ms, 1min);
}

void AddDoorOptions(daemon::OptionTable& table, Config& config) {
  table
      .Add("allowed-origins", &config.allowed_origins,
           "pages of these origins may change something, such as https://app.example; for a "
           "gateway that passes on what browsers send. A change for any other page is refused")
      .Unit("ORIGIN,...");
  table.Check([&config]() -> std::string {
    for (const std::string& origin : config.allowed_origins) {
      if (!IsOrigin(origin)) return "--allowed-origins: an origin is like https://app.example";
    }
    return {};
  });
  table
      .Add("connections", &config.limits.connections,
           "clients connected at once, each at the cost of a descriptor. One more takes the place "
           "of the connection that has been idle for the longest; it is answered with 503 when "
           "none is idle")
      .Range(1, 1'000'000);
  table
      .Add("idle-time", &config.limits.idle_time,
           "how long a connection stays open without a request; longer than the gateway keeps "
           "its own, or it uses one that is just being closed")
      .Range(1s, 1h);
}

}  // namespace

void AddOptions(daemon::OptionTable& table, Config& config) {
  config.daemon.admin.listen.port = 9405;
  daemon::AddOptions(table, config.daemon);
  table.Add("listen", &config.listen,
            "where requests are served; nobody is authenticated here, so beyond loopback only "
            "behind the application's gateway");
  options::AddOptions(table, config.mysql);
  options::AddOptions(table, config.redis);
  options::AddOptions(table, config.timelines);
  options::AddOptions(table, config.bodies);
  Limits& limits = config.limits;
  AddDoorOptions(table, config);
  table
      .Add("threads", &limits.threads,
           "requests about relations that a shard serves at once; each holds a connection to it. A "
           "quarter of them is kept for changes, and a quarter for what only reads")
      .Range(1, 1'000);
  table
      .Add("queue", &limits.queue,
           "changes of relations that wait for a shard's threads, and as many requests that only "
           "read; one more is answered with 503")
      .Range(1, 100'000);
  table
      .Add("longest-wait", &limits.longest_wait,
           "how long a request waits for one of them before it is answered with 503")
      .Range(1ms, 1min);
  AddPageOptions(table, limits);
  AddPublishOptions(table, config);
}

}  // namespace fanline::api
