#include "backends/redis/timeline_scanner.h"

#include <algorithm>
#include <map>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "fanline/model/member.h"

namespace fanline::redis {
namespace {

constexpr const char* kNoPage = "unexpected answer of a scan";
constexpr uint32_t kReadersListed = 10;     // per page of a walk over an index
constexpr size_t kTimelinesInFlight = 100;  // 450 items each: about 1.5 MB of replies

void Complain(RawTimeline& timeline, const std::string& problem) {
  if (timeline.problem.empty()) timeline.problem = problem;
}

// One member and its score.
void TakeMember(std::string_view text, std::string_view score, RawTimeline& timeline) {
  const auto foreign = [&] {
    Complain(timeline, "a member that is no item: " + std::string(text.substr(0, 40)));
  };
  const auto member = ParseMember(text);
  if (!member) return foreign();
  const auto time = TimeOfScore(score);
  switch (member->kind) {
    case Member::Kind::kHead:
    case Member::Kind::kRemoval:
      return;
    case Member::Kind::kMark:
      timeline.marks.Add(member->mark);
      return;
    case Member::Kind::kMoreMarks:
      timeline.marks.more = true;
      return;
    case Member::Kind::kMutes:
      timeline.mutes = member->version;
      return;
    case Member::Kind::kRebuild:
      timeline.state = TimelineState::kBuilding;
      return;
    case Member::Kind::kFloor:
      if (!time) return foreign();
      timeline.state = TimelineState::kReady;
      timeline.floor = *time;
      return;
    case Member::Kind::kItem:
      if (!time) return foreign();
      timeline.items.push_back(member->item);
      timeline.items.back().created_at = *time;
      return;
    case Member::Kind::kUnknownItem:
      return;  // a newer program's, which this one cannot compare
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
  const size_t front =
      timeline.marks.authors.size() + timeline.marks.more + (timeline.mutes == 0 ? 0 : 1);
  if (front >= reply.elements / 2 || Text(At(reply, 2 * front)) != kHeadMember) {
    Complain(timeline, "T does not stand in front of all items");
  }
  return timeline;
}

}  // namespace

TimelineScanner::TimelineScanner(const Options& options)
    : options_(options), keys_(options), masters_(options) {}

Status TimelineScanner::Readers(std::vector<UserId>* out) {
  out->clear();
  Status status = masters_.Refresh(Masters::Ask::kAll);
  const auto nodes = masters_.map().masters();
  for (size_t node = 0; status.done() && node < nodes.size(); ++node) {
    std::string cursor = "0";
    do {
      const CommandBuffer scan =
          CommandOf("SCAN", cursor, "MATCH", keys_.Timelines(), "COUNT", options_.scan_count);
      status = masters_.At(nodes[node]).Call(scan, [&](const redisReply& reply) {
        const bool read = ReadScanned(reply, &cursor, [&](std::string_view key) {
          const auto timeline = keys_.ParseTimeline(key);
          if (timeline && timeline->in_its_range) out->push_back(timeline->reader);
        });
        return read ? Status::Done() : Away(kNoPage);
      });
    } while (status.done() && cursor != "0");
  }
  std::sort(out->begin(), out->end());
  out->erase(std::unique(out->begin(), out->end()), out->end());
  return status;
}

Status TimelineScanner::Read(std::span<const UserId> readers,
                             const std::function<void(const RawTimeline&)>& on_timeline) {
  if (Status status = masters_.EnsureMap(); !status.done()) return status;
  while (!readers.empty()) {
    const auto chunk = readers.first(std::min(readers.size(), kTimelinesInFlight));
    readers = readers.subspan(chunk.size());
    std::vector<RawTimeline> found;
    Status status = ReadChunk(chunk, &found);
    if (!status.done()) {
      // The map may be wrong (it was one node's), a slot may have moved, or a master has a
      // successor.
      status = masters_.Refresh(Masters::Ask::kAll);
      if (status.done()) status = ReadChunk(chunk, &found);
    }
    if (!status.done()) return status;
    std::for_each(found.begin(), found.end(), on_timeline);
  }
  return Status::Done();
}

Status TimelineScanner::ReadChunk(std::span<const UserId> readers, std::vector<RawTimeline>* out) {
  out->clear();
  std::map<const Endpoint*, std::vector<UserId>> by_master;
  for (UserId reader : readers) {
    by_master[masters_.map().MasterOf(keys_.Home(reader))].push_back(reader);
  }
  for (const auto& [master, its_readers] : by_master) {
    if (master == nullptr) return Away("a part of the redis cluster is served by no node");
    const Status status = ReadOf(*master, its_readers, out);
    if (!status.done()) return status;
  }
  std::sort(out->begin(), out->end(),
            [](const auto& a, const auto& b) { return a.reader < b.reader; });
  return Status::Done();
}

Status TimelineScanner::ReadOf(const Endpoint& master, std::span<const UserId> readers,
                               std::vector<RawTimeline>* out) {
  CommandBuffer commands;
  for (UserId reader : readers) {
    commands.Command("ZRANGE", keys_.Timeline(reader), "0", "-1", "WITHSCORES");
  }
  size_t next = 0;
  return masters_.At(master).PipelineRaw(commands, readers.size(), [&](const redisReply& reply) {
    // Not the key's fault: its slot moves, or the node is away or refuses.
    const bool later = IsError(reply) && MeaningOf(Text(reply)).outcome == Outcome::kLater;
    if (later) return Away(std::string(Text(reply)) + ": ask again");
    out->push_back(ParseTimeline(readers[next++], reply));
    return Status::Done();
  });
}

Status TimelineScanner::TimeToLive(UserId reader, std::optional<std::chrono::milliseconds>* left) {
  left->reset();
  const CommandBuffer ask = CommandOf("PTTL", keys_.Timeline(reader));
  return masters_.Call(keys_.Home(reader), ask, [&](const redisReply& reply) {
    const auto ms = Integer(reply);
    if (ms && *ms >= 0) *left = std::chrono::milliseconds(*ms);
    return Status::Done();
  });
}

Status TimelineScanner::Index(Range range, RangeIndex* out) {
  *out = {};
  std::string cursor = "0";
  Status status;
  do {
    const CommandBuffer scan =
        CommandOf("ZSCAN", keys_.Live(range), cursor, "COUNT", options_.scan_count);
    status = masters_.Call(keys_.Home(range), scan, [&](const redisReply& reply) {
      bool is_score = true;
      const bool read = ReadScanned(reply, &cursor, [&](std::string_view text) {
        is_score = !is_score;  // of the member in front of it
        if (is_score) return;
        if (text == "#complete") out->complete = true;
        if (const auto raw = ParseId(text)) out->readers.push_back(UserId{*raw});
      });
      return read ? Status::Done() : Away(kNoPage);
    });
  } while (status.done() && cursor != "0");
  return status;
}

// By number, from the last one down: who begins a timeline meanwhile does not prolong the walk. A
// page of ZSCAN may be the whole index, as Redis keeps short ones.
Status TimelineScanner::Listed(Range range, std::string* cursor, std::vector<UserId>* out) {
  out->clear();
  if (cursor->empty()) *cursor = kAboveReaders;
  const CommandBuffer ask = CommandOf("ZRANGE", keys_.Live(range), "(" + *cursor, kAboveMarks,
                                      "BYSCORE", "REV", "LIMIT", 0, kReadersListed, "WITHSCORES");
  return masters_.Call(keys_.Home(range), ask, [&](const redisReply& reply) {
    if (!IsArray(reply, 0)) return Away(kNoPage);
    cursor->clear();
    for (size_t i = 0; i + 1 < reply.elements; i += 2) {
      if (const auto raw = ParseId(Text(At(reply, i)))) out->push_back(UserId{*raw});
      if (i + 2 == size_t{2} * kReadersListed) *cursor = Text(At(reply, i + 1));
    }
    return Status::Done();
  });
}

Status TimelineScanner::Read(UserId reader, RawTimeline* out, bool* indexed) {
  *indexed = true;
  Status status = Read({&reader, 1}, [&](const RawTimeline& timeline) { *out = timeline; });
  if (!status.done() || out->state != TimelineState::kReady) return status;
  const CommandBuffer look =
      CommandOf("ZMSCORE", keys_.Live(keys_.layout().RangeOf(reader)), "#complete", Raw(reader));
  return masters_.Call(keys_.Home(reader), look, [&](const redisReply& reply) {
    if (!IsArray(reply, 2)) return Status::Done();  // a key of the wrong type counts as incomplete
    *indexed = Text(At(reply, 0)).empty() || !Text(At(reply, 1)).empty();
    return Status::Done();
  });
}

}  // namespace fanline::redis
