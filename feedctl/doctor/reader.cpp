#include "feedctl/doctor/reader.h"

#include <algorithm>

#include "audit/look.h"
#include "backends/kafka/tools/log_reader.h"
#include "backends/mysql/edges/relation_store.h"
#include "backends/mysql/posts/author_modes.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/redis/timeline_scanner.h"
#include "fanline/base/mono_now.h"
#include "feedctl/doctor/ask.h"
#include "feedctl/support/failure.h"

namespace fanline::feedctl {
namespace {

Status AskTruth(const mysql::Config& config, mysql::MysqlReaderTruth& truth, ReaderFacts& facts,
                std::vector<UserId>* followees) {
  const auto found = truth.Ask(LookUpUser{0, truth.map().ShardOf(facts.user), facts.user});
  facts.known = found.facts;
  Status status = found.status;
  mysql::ShardConnections connections(config);
  if (status.done()) {
    status = connections.Run(facts.shard, [&](mysql::Connection& connection) {
      facts.counts = mysql::RelationCountsOf(connection, facts.user);
      facts.muted = mysql::MutedOf(connection, facts.user);
      facts.mode = mysql::ReadAuthorMode(connection, facts.user);
    });
  }
  if (status.done()) status = truth.Followees(facts.user, followees);
  facts.follows = followees->size() + facts.muted;
  facts.no_reposts = truth.no_reposts().size();
  facts.mutes_damaged = truth.mutes().damaged;
  return status.done() ? truth.Confirm() : status;
}

Status AskPosts(mysql::MysqlReaderTruth& truth, const std::vector<UserId>& followees,
                ReaderFacts& facts) {
  Status status = truth.LastAt(followees, &facts.followed);
  return status.done() ? truth.Confirm() : status;
}

Status AskTimeline(const Settings& settings, const mysql::Installation& installation,
                   ReaderFacts& facts) {
  const auto options = options::ToOptions(settings.redis, settings.timelines, installation);
  std::vector<redis::RangeState> ranges;
  Status status = redis::ReadRangeStates(options, &ranges);
  for (const redis::RangeState& range : ranges) {
    if (range.range == facts.range) facts.state = range;
  }
  if (status.done() && facts.state) status = facts.state->status;
  redis::TimelineScanner scanner(options);
  if (status.done()) status = scanner.Read(facts.user, &facts.timeline, &facts.indexed);
  if (status.done()) status = scanner.TimeToLive(facts.user, &facts.ttl);
  return status;
}

void AskOriginals(mysql::MysqlReaderTruth& truth, ReaderFacts& facts) {
  const auto& items = facts.timeline.items;
  for (size_t i = 0; i < std::min(kItemsShown, items.size()); ++i) {
    const Original& original = items[i].original;
    if (!original) continue;
    const auto read = truth.Ask(ReadOriginals{0, truth.map().ShardOf(original.author), {original}});
    facts.originals[original] = read.status.done() ? read.states.at(0) : std::nullopt;
  }
}

// Compares nothing if the shard of a followed user is away.
void Compare(const Settings& settings, const mysql::Installation& installation,
             ReaderFacts& facts) {
  mysql::MysqlReaderTruth truth(options::ToConfig(settings.mysql), installation.shard_map);
  redis::TimelineScanner scanner(
      options::ToOptions(settings.redis, settings.timelines, installation));
  audit::Looker looker(truth, scanner, installation.window.underfilled_below(),
                       installation.own_posts);
  audit::Look look;
  if (!looker.LookAt(facts.user, &look).done()) return;
  facts.judged = look.judged;
  facts.too_much = look.too_much;
  facts.differences = std::move(look.differences);
}

Status AskHints(const Settings& settings, const mysql::Installation& installation,
                const std::string& group, ReaderFacts& facts) {
  const auto options = options::ToOptions(settings.kafka, kClientId);
  int32_t partitions = 0;
  kafka::Admin admin(options, kKafkaTimeout);
  Status status = admin.CountPartitions(installation.tasks_topic, &partitions);
  facts.tasks_exist = partitions > 0;
  if (!status.done() || !facts.tasks_exist) return status;
  std::vector<kafka::LogSpan> logs;
  kafka::LogReader reader(options, kKafkaTimeout);
  status = reader.Look(installation.tasks_topic, static_cast<int32_t>(installation.partitions), 0,
                       &logs);
  if (!status.done()) return status;
  if (facts.state && facts.state->position) {
    const kafka::LogSpan& log = logs.at(static_cast<size_t>(facts.range));
    facts.hints_waiting = static_cast<uint64_t>(
        std::max<int64_t>(0, log.to - std::max(log.from, facts.state->position->offset)));
  }
  kafka::GroupOwners owners;
  facts.owner_known = admin.ReadOwners(group, installation.tasks_topic, &owners).done();
  const auto owner = owners.find(facts.range);
  if (owner != owners.end()) facts.owner = owner->second;
  return Status::Done();
}

}  // namespace

ReaderFacts AskReader(const Settings& settings, const mysql::Installation& installation,
                      UserId user, const std::string& pusher_group) {
  ReaderFacts facts{.user = user,
                    .shard = installation.shard_map.ShardOf(user),
                    .bucket = BucketOf(user),
                    .range = installation.layout().RangeOf(user),
                    .now = SystemNow().unix_ms};
  const mysql::Config config = options::ToConfig(settings.mysql);
  mysql::MysqlReaderTruth reader_truth(config, installation.shard_map);
  std::vector<UserId> followees;
  const Status truth = AskTruth(config, reader_truth, facts, &followees);
  if (!truth.done()) facts.truth_away = WhyOf(truth, settings);
  if (truth.done() && !facts.known.known) {
    throw Failure(kExitNoUser, "nobody knows user " + ToString(user) +
                                   ": follows nobody, is followed by nobody, has not posted");
  }
  const Status posts = truth.done() ? AskPosts(reader_truth, followees, facts) : Status::Done();
  if (!posts.done()) facts.posts_away = WhyOf(posts, settings);
  const Status redis = AskTimeline(settings, installation, facts);
  if (!redis.done()) facts.redis_away = WhyOf(redis, settings);
  if (truth.done() && posts.done() && redis.done()) {
    AskOriginals(reader_truth, facts);
    Compare(settings, installation, facts);
  }
  const Status hints = AskHints(settings, installation, pusher_group, facts);
  if (!hints.done()) facts.kafka_away = WhyOf(hints, settings);
  return facts;
}

}  // namespace fanline::feedctl
