#include "backends/redis/timeline_scanner.h"

#include <algorithm>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"

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
    : options_(options), keys_(options), connection_(options) {}

// SCAN or SSCAN, page by page.
Status TimelineScanner::ScanAll(
    const std::function<void(CommandBuffer&, const std::string& cursor)>& encode,
    const std::function<void(std::string_view)>& on_element) {
  std::string cursor = "0";
  do {
    CommandBuffer scan;
    encode(scan, cursor);
    const Status status = connection_.Call(scan, [&](const redisReply& reply) {
      if (!IsArray(reply, 2) || At(reply, 1).type != REDIS_REPLY_ARRAY) {
        return Away("unexpected answer of a scan");
      }
      cursor = Text(At(reply, 0));
      const redisReply& elements = At(reply, 1);
      for (size_t i = 0; i < elements.elements; ++i) on_element(Text(At(elements, i)));
      return Status::Done();
    });
    if (!status.done()) return status;
  } while (cursor != "0");
  return Status::Done();
}

Status TimelineScanner::Readers(std::vector<UserId>* out) {
  out->clear();
  const Status status = ScanAll(
      [this](CommandBuffer& scan, const std::string& cursor) {
        scan.Command("SCAN", cursor, "MATCH", keys_.Timelines(), "COUNT", options_.scan_count);
      },
      [&](std::string_view key) {
        const auto timeline = keys_.ParseTimeline(key);
        if (timeline && timeline->in_its_range) out->push_back(timeline->reader);
      });
  std::sort(out->begin(), out->end());
  out->erase(std::unique(out->begin(), out->end()), out->end());
  return status;
}

Status TimelineScanner::Read(std::span<const UserId> readers,
                             const std::function<void(const RawTimeline&)>& on_timeline) {
  while (!readers.empty()) {
    const auto chunk = readers.first(std::min(readers.size(), kTimelinesInFlight));
    readers = readers.subspan(chunk.size());
    CommandBuffer commands;
    for (UserId reader : chunk) {
      commands.Command("ZRANGE", keys_.Timeline(reader), "0", "-1", "WITHSCORES");
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

Status TimelineScanner::Index(Range range, RangeIndex* out) {
  *out = {};
  return ScanAll(
      [&](CommandBuffer& scan, const std::string& cursor) {
        scan.Command("SSCAN", keys_.Live(range), cursor, "COUNT", options_.scan_count);
      },
      [&](std::string_view member) {
        if (member == "#complete") out->complete = true;
        if (const auto raw = ParseId(member)) out->readers.push_back(UserId{*raw});
      });
}

}  // namespace fanline::redis
