#include "backends/redis/timeline_scanner.h"

#include <algorithm>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/keys.h"

namespace fanline::redis {
namespace {

constexpr size_t kTimelinesInFlight = 100;  // 450 items each: about 1.5 MB of replies

void Complain(RawTimeline& timeline, const std::string& problem) {
  if (timeline.problem.empty()) timeline.problem = problem;
}

// One member and its score.
void TakeMember(std::string_view member, std::string_view score, RawTimeline& timeline) {
  const char first = member.empty() ? ' ' : member.front();
  const auto time = TimeOfScore(score);
  if (first == 'T' || first == 'X') return;
  if (first == 'B') {
    timeline.state = TimelineState::kBuilding;
  } else if (first == 'F' && time) {
    timeline.state = TimelineState::kReady;
    timeline.floor = *time;
  } else if (const auto post = ParseId(member); post && time) {
    timeline.items.push_back({PostId{*post}, *time});
  } else {
    Complain(timeline, "a member that is no item: " + std::string(member.substr(0, 40)));
  }
}

RawTimeline ParseTimeline(UserId reader, const redisReply& reply) {
  RawTimeline timeline;
  timeline.reader = reader;
  if (IsError(reply)) {
    Complain(timeline, std::string(Text(reply)));
    return timeline;
  }
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements == 0) return timeline;
  timeline.items.reserve(reply.elements / 2);
  for (size_t i = 0; i + 1 < reply.elements; i += 2) {
    TakeMember(Text(At(reply, i)), Text(At(reply, i + 1)), timeline);
  }
  if (timeline.state == TimelineState::kNotLive) Complain(timeline, "neither F nor B");
  if (Text(At(reply, 0)) != "T") Complain(timeline, "T is not the first member");
  return timeline;
}

}  // namespace

TimelineScanner::TimelineScanner(const Options& options)
    : options_(options), connection_(options) {}

Status TimelineScanner::Readers(std::vector<UserId>* out) {
  out->clear();
  std::string cursor = "0";
  do {
    CommandBuffer scan;
    scan.Command("SCAN", cursor, "MATCH", "tl:{*", "COUNT", options_.scan_count);
    const Status status = connection_.Call(scan, [&](const redisReply& reply) {
      if (!IsArray(reply, 2) || At(reply, 1).type != REDIS_REPLY_ARRAY) {
        return Away("unexpected answer of SCAN");
      }
      cursor = Text(At(reply, 0));
      const redisReply& keys = At(reply, 1);
      for (size_t i = 0; i < keys.elements; ++i) {
        if (const auto reader = ReaderOfTimelineKey(Text(At(keys, i)))) out->push_back(*reader);
      }
      return Status::Done();
    });
    if (!status.done()) return status;
  } while (cursor != "0");
  std::sort(out->begin(), out->end());
  out->erase(std::unique(out->begin(), out->end()), out->end());
  return Status::Done();
}

Status TimelineScanner::Read(std::span<const UserId> readers,
                             const std::function<void(const RawTimeline&)>& on_timeline) {
  while (!readers.empty()) {
    const auto chunk = readers.first(std::min(readers.size(), kTimelinesInFlight));
    readers = readers.subspan(chunk.size());
    CommandBuffer commands;
    for (UserId reader : chunk) {
      commands.Command("ZRANGE", Key::Timeline(reader), "0", "-1", "WITHSCORES");
    }
    size_t next = 0;
    const Status status =
        connection_.PipelineRaw(commands, chunk.size(), [&](const redisReply& reply) {
          on_timeline(ParseTimeline(chunk[next++], reply));
          return Status::Done();
        });
    if (!status.done()) return status;
  }
  return Status::Done();
}

Status TimelineScanner::Index(Bucket bucket, BucketIndex* out) {
  *out = {};
  CommandBuffer command;
  command.Command("SMEMBERS", Key::Live(bucket));
  return connection_.Call(command, [&](const redisReply& reply) {
    if (reply.type != REDIS_REPLY_ARRAY) return Away("unexpected answer of SMEMBERS");
    for (size_t i = 0; i < reply.elements; ++i) {
      const std::string_view member = Text(At(reply, i));
      if (member == "#complete") out->complete = true;
      if (const auto raw = ParseId(member)) out->readers.push_back(UserId{*raw});
    }
    return Status::Done();
  });
}

}  // namespace fanline::redis
