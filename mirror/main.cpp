// log1 (MariaDB) and relation events (Kafka) -> relation-log (Kafka) -> reverse rows (MariaDB),
// then hints (Kafka). Wiring only.
#include <prometheus/registry.h>

#include "backends/kafka/consumer.h"
#include "backends/kafka/producer.h"
#include "backends/mysql/installation.h"
#include "backends/mysql/mirror_store.h"
#include "backends/wiring/consume_loop.h"
#include "backends/wiring/start_checks.h"
#include "daemon/admin.h"
#include "daemon/inbox.h"
#include "daemon/main_guard.h"
#include "daemon/run.h"
#include "daemon/signals.h"
#include "mirror/config.h"
#include "mirror/die_after.h"
#include "mirror/intake.h"
#include "mirror/mirror.h"
#include "mirror/prometheus_metrics.h"

using namespace fanline;
using mirror::IntakeInput;
using mirror::MirrorInput;

namespace {

using LogLoop = wiring::ConsumeLoop<mirror::Mirror, MirrorInput>;
using EventLoop = wiring::ConsumeLoop<mirror::Intake, IntakeInput>;

std::optional<Time> Earlier(std::optional<Time> one, std::optional<Time> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

// Both topics turn together; each leaves its group as soon as its own work is done.
class BothLoops {
 public:
  BothLoops(LogLoop& log, EventLoop& events) : log_(log), events_(events) {}

  daemon::StepResult Step(const Now& now) {
    const auto log = log_.Step(now);
    const auto events = events_.Step(now);
    return {log.did_work || events.did_work, Earlier(log.next_timer, events.next_timer)};
  }

  daemon::DrainResult Drain(const Now& now) {
    if (!log_drain_.done) log_drain_ = log_.Drain(now);
    if (!events_drain_.done) events_drain_ = events_.Drain(now);
    return {log_drain_.done && events_drain_.done, log_drain_.did_work || events_drain_.did_work,
            Earlier(log_drain_.next_timer, events_drain_.next_timer)};
  }

 private:
  LogLoop& log_;
  EventLoop& events_;
  daemon::DrainResult log_drain_, events_drain_;
};

int Main(int argc, char** argv) {
  mirror::Config config;
  daemon::OptionTable table(
      "fanline-mirror", "brings the reverse rows of relations in line: one member of the fleet");
  mirror::AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  daemon::Log log("mirror", config.daemon.log);
  daemon::Wakeup wakeup;
  daemon::StopOnSignal stop(wakeup);  // SIGTERM, SIGINT
  daemon::Health health(config.daemon.health);
  prometheus::Registry registry;
  daemon::Admin admin(config.daemon.admin, registry, health, log);  // /metrics /healthz /readyz

  // What everybody must agree on: shards, ranges, topics.
  const wiring::Starting starting{stop, wakeup, health, log};
  const auto mysql_config = options::ToConfig(config.mysql);
  const auto client = options::ToOptions(config.kafka, "fanline-mirror");
  const auto installation =
      wiring::AwaitInstallation(mysql_config, config.topics, false, false, starting);
  wiring::AwaitTopic(client, installation.tasks_topic, installation.partitions, starting);
  wiring::AwaitTopic(client, config.topics.relation_events, 0, starting);
  const uint32_t partitions = wiring::AwaitRelationLog(client, starting);
  if (stop.requested()) return 0;

  daemon::Inbox<MirrorInput> inbox(wakeup);
  daemon::Inbox<IntakeInput> intake_inbox(wakeup);
  const mirror::DieAfter die_after(config.die_after);
  const auto deliver = [&](auto reply) {
    die_after.Look(reply);
    inbox.Push(MirrorInput(std::move(reply)));
  };
  const auto deliver_to_intake = [&intake_inbox](auto reply) {
    intake_inbox.Push(IntakeInput(std::move(reply)));
  };
  const auto route = [&](auto reply) {  // of ports that both use
    const bool intake = mirror::RequestIds::PartOf(reply.id) == mirror::Part::kIntake;
    intake ? deliver_to_intake(std::move(reply)) : deliver(std::move(reply));
  };
  mysql::MysqlMirrorStore store(
      mysql_config, installation.shard_map,
      {.applied = route,
       .changed = route,
       .log =
           [&deliver](ChangeReply reply) {
             std::visit([&deliver](auto& each) { deliver(std::move(each)); }, reply);
           },
       .mode = deliver_to_intake},
      [&health](Shard shard, bool reachable) {
        health.SetReady(mysql::ResourceOf(shard), reachable, reachable ? "" : "not reachable");
      },
      log.Sink(), {.most_followed = config.limits.following_limit});
  kafka::Producer producer({.client = client, .hint_topic = installation.tasks_topic}, deliver,
                           route, log.Sink(), deliver);
  kafka::Consumer relation_log(
      {.client = client, .group = config.group, .topic = kRelationLogTopic, .wake_fd = wakeup.fd()},
      log.Sink());
  kafka::Consumer events({.client = client,
                          .group = config.group + "-events",
                          .topic = config.topics.relation_events,
                          .wake_fd = wakeup.fd()},
                         log.Sink());

  mirror::PrometheusMetrics metrics(registry, log);
  const auto& map = installation.shard_map;
  mirror::Mirror mirror({store, store, store, producer, producer, producer, metrics},
                        {installation.layout(), map, partitions, wiring::RandomSeed()},
                        config.limits);
  mirror::Intake intake({store, store, store, producer, metrics}, {map, wiring::RandomSeed()},
                        config.limits);
  LogLoop log_loop(relation_log, inbox, mirror, registry, {{"topic", kRelationLogTopic}});
  EventLoop event_loop(events, intake_inbox, intake, registry,
                       {{"topic", config.topics.relation_events}});
  BothLoops loops(log_loop, event_loop);
  return daemon::Run(config.daemon.run, wakeup, health, log,
                     {.stop_requested = [&] { return stop.requested(); },
                      .step = [&](const Now& now) { return loops.Step(now); },
                      .drain = [&](const Now& now) { return loops.Drain(now); }});
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-mirror", [&] { return Main(argc, argv); });
}
