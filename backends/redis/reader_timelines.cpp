#include "backends/redis/reader_timelines.h"

#include <algorithm>
#include <span>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/scripts.h"
#include "backends/redis/requests.h"
#include "fanline/base/check.h"
#include "fanline/base/number.h"
#include "fanline/model/member.h"

namespace fanline::redis {
namespace {

// Marks, the version of the mutes and the head stand in front of the items.
void ReadFront(std::string_view text, LivePage* page) {
  const auto member = ParseMember(text);
  if (member && member->kind == Member::Kind::kMark) {
    page->marks.Add(member->mark);
  } else if (member && member->kind == Member::Kind::kMutes) {
    page->mutes = member->version;
  } else if (!member || member->kind != Member::Kind::kHead) {
    page->marks.more = true;  // more than it can name, or an unknown mark
  }
}

// The items of a page's lists.
struct Looked {
  uint32_t at = 0;  // items newer than the floor, of any kind
  UnixMs last = 0;  // the time of the last one
};

// Reads {member, score, member, score ...}, one of a page's lists. The page gets at most `limit`
// items strictly newer than the floor; one item more tells that there is another page.
void ReadList(const redisReply& list, uint32_t limit, LivePage* page, Looked* looked) {
  for (size_t i = 0; i + 1 < list.elements; i += 2) {
    const std::string_view score = Text(At(list, i + 1));
    if (score == kScoreOfMarks) {
      ReadFront(Text(At(list, i)), page);
      continue;
    }
    const auto created_at = TimeOfScore(score);
    if (created_at && *created_at <= page->floor) return;
    if (!created_at) continue;
    ++looked->at;
    looked->last = *created_at;
    auto item = ParseItem(Text(At(list, i)));
    if (!item) continue;
    item->created_at = *created_at;
    if (page->items.size() == limit) {
      page->reached_floor = false;
      return;
    }
    page->items.push_back(*item);
  }
}

// Items of kinds that are not known took the place of others, which were not read: the page is
// complete down to the last one's moment only.
void EndAtLast(const Looked& looked, LivePage* page) {
  page->floor = looked.last;
  page->reached_floor = true;
  std::erase_if(page->items, [&](const Item& item) { return item.created_at <= page->floor; });
}

// Items alone, without their scores.
void ReadInFront(const redisReply& list, LivePage* page) {
  page->in_front.reserve(list.elements);
  for (size_t i = 0; i < list.elements; ++i) {
    if (const auto item = ParseItem(Text(At(list, i)))) page->in_front.push_back(*item);
  }
}

// {"ready", floor, as_of, list ...}
constexpr size_t kInFront = 5;  // the place of the list of items in front
Status ParsePage(const redisReply& reply, uint32_t limit, LivePage* page) {
  if (!IsArray(reply, 1)) return UnexpectedAnswer("read_page");
  const std::string_view state = Text(At(reply, 0));
  if (state != "ready") {
    page->state = state == "building" ? TimelineState::kBuilding : TimelineState::kNotLive;
    return Status::Done();
  }
  const auto floor = IsArray(reply, 4) ? TimeOfScore(Text(At(reply, 1))) : std::nullopt;
  if (!floor) return UnexpectedAnswer("read_page");
  page->state = TimelineState::kReady;
  page->floor = *floor;
  page->as_of = ParseNumber<UnixMs>(Text(At(reply, 2))).value_or(0);
  page->reached_floor = true;
  page->items.reserve(limit);
  Looked looked;
  for (size_t i = 3; i < reply.elements; ++i) {
    if (!IsArray(At(reply, i), 0)) return UnexpectedAnswer("read_page");
    i < kInFront ? ReadList(At(reply, i), limit, page, &looked) : ReadInFront(At(reply, i), page);
  }
  if (page->items.size() < limit && looked.at > limit) EndAtLast(looked, page);
  return Status::Done();
}

}  // namespace

RedisReaderTimelines::RedisReaderTimelines(const Options& options)
    : options_(options), keys_(options), masters_(options) {}

RebuildBegan RedisReaderTimelines::Do(const BeginRebuild& request) {
  const UserId reader = request.reader;
  RebuildBegan began{request.id, {}, {}};
  const Range range = keys_.layout().RangeOf(reader);
  CommandBuffer out;
  out.Command("EVALSHA", DigestOf(Script::kRebuildBegin), 3, keys_.Live(range), keys_.Pos(range),
              keys_.Timeline(range, reader), Raw(reader), request.token,
              options_.building_ttl.count(), LogOf(options_.generation, keys_.layout()));
  const auto take = [&](const redisReply& reply) {
    const std::string_view word = Text(reply);
    if (word == "created") {
      began.begun = RebuildBegun::kCreated;
    } else if (word == "building") {
      began.begun = RebuildBegun::kBusy;
    } else if (word == "ready") {
      began.begun = RebuildBegun::kAlreadyReady;
    } else if (word == "refused") {
      began.begun = RebuildBegun::kRefused;
    } else {
      return UnexpectedAnswer("rebuild_begin");
    }
    return Status::Done();
  };
  began.status = masters_.Call(keys_.Home(range), out, take);
  return began;
}

RebuildFinished RedisReaderTimelines::Do(const FinishRebuild& request) {
  const UserId reader = request.reader;
  const std::vector<Item>& items = request.items;
  RebuildFinished finished{request.id, {}};
  FANLINE_CHECK(std::is_sorted(items.begin(), items.end(), IsNewer), "the script merges them");
  const Range range = keys_.layout().RangeOf(reader);
  // One mark more than fit tells as much as all of them.
  const uint32_t most = options_.window.most_marks();
  const auto marks =
      std::span(request.marks).first(std::min<size_t>(request.marks.size(), most + 1));
  CommandBuffer out = BeginCall(Script::kRebuildFinish, 2, 9 + marks.size() + 2 * items.size());
  out.Args(keys_.MaxFloor(range), keys_.Timeline(range, reader), request.token);
  if (request.floor == kNoFloor) {
    out.Arg(kScoreOfNoFloor);
  } else {
    out.Arg(ScoreOf(request.floor));
  }
  out.Args(options_.window.window, options_.window.window + options_.window.spare(),
           options_.timeline_ttl.count(),
           std::min(options_.timeline_ttl, options_.empty_ttl).count(), most);
  request.mutes == 0 ? out.Arg("") : out.Arg(MemberText::OfMutes(request.mutes));
  out.Arg(marks.size());
  for (const Mark& mark : marks) out.Arg(MemberText::OfMark(mark));
  for (const Item& item : items) {
    out.Args(ScoreOf(item.created_at), MemberText(item));
  }
  const auto take = [&](const redisReply& reply) {
    const auto answer = Integer(reply);
    if (!answer) return UnexpectedAnswer("rebuild_finish");
    finished.applied = *answer == 1;
    return Status::Done();
  };
  finished.status = masters_.Call(keys_.Home(range), out, take);
  return finished;
}

RebuildAbandoned RedisReaderTimelines::Do(const AbandonRebuild& request) {
  const Range range = keys_.layout().RangeOf(request.reader);
  CommandBuffer out;
  out.Command("EVALSHA", DigestOf(Script::kRebuildAbandon), 2, keys_.Live(range),
              keys_.Timeline(range, request.reader), request.token);
  return {request.id, masters_.Call(keys_.Home(range), out, [](const redisReply& reply) {
            return Integer(reply) ? Status::Done() : UnexpectedAnswer("rebuild_abandon");
          })};
}

LivePageRead RedisReaderTimelines::Do(const ReadLivePage& request) {
  const UserId reader = request.reader;
  const auto& after = request.after;
  LivePageRead read{request.id, {}};
  CommandBuffer out = BeginCall(Script::kReadPage, 1, 6);
  out.Arg(keys_.Timeline(reader));
  if (after) {
    out.Args(ScoreOf(after->created_at), MemberText::OfPlace(after->post));
  } else {
    out.Args("", "");
  }
  // One more tells whether there is another page.
  out.Args(uint64_t{request.limit} + 1, options_.timeline_ttl.count(),
           keys_.Pos(keys_.layout().RangeOf(reader)), after && request.in_front ? "front" : "");
  // This script alone needs no other key, so it may follow the timeline while its slot moves.
  read.status = masters_.Call(
      keys_.Home(reader), out,
      [&](const redisReply& reply) { return ParsePage(reply, request.limit, &read.page); },
      Masters::OnAsk::kFollow);
  return read;
}

Status RedisReaderTimelines::Drop(UserId reader) {
  return masters_.Call(keys_.Home(reader), CommandOf("UNLINK", keys_.Timeline(reader)),
                       [](const redisReply&) { return Status::Done(); });
}

}  // namespace fanline::redis
