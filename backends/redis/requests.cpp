#include "backends/redis/requests.h"

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/scripts.h"
#include "fanline/base/number.h"
#include "fanline/model/member.h"

namespace fanline::redis {
namespace {

// Of a reader in live:. Nothing for a score that is no such number.
std::optional<uint64_t> NumberOfScore(std::string_view score) {
  const auto number = ParseNumber<double>(score);  // "1e+16", should Redis ever write it so
  const bool exact = number && *number >= 1 && *number < 0x1p53;
  return exact ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
}

}  // namespace

std::string LogOf(uint64_t generation, const RangeLayout& layout) {
  return std::to_string(generation) + '.' + std::to_string(layout.partitions());
}

std::string TextOf(const AppliedPosition& position, const RangeLayout& layout) {
  std::string text = LogOf(position.generation, layout) + ':' + std::to_string(position.offset);
  if (position.as_of != 0) text += '@' + std::to_string(position.as_of);
  for (const BegunHints& begun : position.begun) {
    text += ';' + std::to_string(begun.offset) + ',' + std::to_string(begun.hints) + ',' +
            std::to_string(begun.content) + ',' + ToString(begun.reader) + ',' +
            (begun.delivered ? '1' : '0');
  }
  return text;
}

std::optional<AppliedPosition> ParsePosition(std::string_view text, const RangeLayout& layout) {
  std::string_view rest = text;
  const auto next = [&rest]<typename Number>(Number& number, char end) {
    const size_t at = rest.find(end);
    const auto parsed = ParseNumber<Number>(rest.substr(0, at));
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
    if (parsed) number = *parsed;
    return parsed.has_value();
  };
  AppliedPosition position;
  uint32_t ranges = 0;
  if (!next(position.generation, '.') || !next(ranges, ':')) return std::nullopt;
  const bool dated = rest.find('@') < rest.find(';');
  if (!next(position.offset, dated ? '@' : ';')) return std::nullopt;
  if (dated && !next(position.as_of, ';')) return std::nullopt;
  while (!rest.empty()) {
    BegunHints& begun = position.begun.emplace_back();
    uint64_t reader = 0;
    uint8_t delivered = 0;
    if (!next(begun.offset, ',') || !next(begun.hints, ',') || !next(begun.content, ',') ||
        !next(reader, ',') || !next(delivered, ';')) {
      return std::nullopt;
    }
    begun.reader = UserId{reader};
    begun.delivered = delivered == 1;
  }
  // The number of ranges must agree, and compare-and-set compares the text.
  if (TextOf(position, layout) != text) return std::nullopt;
  return position;
}

// ---- claim ----------------------------------------------------------------------------------

CommandBuffer Encode(const ClaimRange& request, const Options&, const Keys& keys) {
  return CommandOf("EVALSHA", DigestOf(Script::kClaim), 3, keys.Own(request.range),
                   keys.Live(request.range), keys.Pos(request.range), request.epoch);
}

RangeClaimed Parse(const ClaimRange&, const redisReply& reply, const RangeLayout& layout) {
  RangeClaimed claimed;
  const auto refused_by =
      IsArray(reply, 1) ? ParseNumber<uint64_t>(Text(At(reply, 0))) : std::nullopt;
  if (!refused_by || (*refused_by == 0 && !IsArray(reply, 3))) {
    claimed.status = UnexpectedAnswer("claim");
    return claimed;
  }
  claimed.refused_by = *refused_by;
  if (claimed.refused_by != 0) return claimed;
  claimed.index = ParseNumber<uint64_t>(Text(At(reply, 1))).value_or(0);
  const std::string_view position = Text(At(reply, 2));
  claimed.position = ParsePosition(position, layout);
  claimed.foreign = !claimed.position && !position.empty();
  return claimed;
}

// ---- news -----------------------------------------------------------------------------------

CommandBuffer Encode(const ReadNews& request, const Options&, const Keys& keys) {
  return CommandOf("EVALSHA", DigestOf(Script::kNews), 2, keys.Own(request.range),
                   keys.Live(request.range), request.epoch, request.heard, request.limit);
}

NewsRead Parse(const ReadNews&, const redisReply& reply, const RangeLayout&) {
  NewsRead news;
  const auto unexpected = [] { return NewsRead{.status = UnexpectedAnswer("news")}; };
  if (!IsArray(reply, 4) || !IsArray(At(reply, 3), 0)) return unexpected();
  const auto last = ParseNumber<uint64_t>(Text(At(reply, 0)));
  const auto index = ParseNumber<uint64_t>(Text(At(reply, 1)));
  const auto readers = Integer(At(reply, 2));
  if (!last || !index || !readers || *readers < 0) return unexpected();
  news.last = *last;
  news.index = *index;
  news.readers = static_cast<uint64_t>(*readers);
  const redisReply& announced = At(reply, 3);
  news.announced.reserve(announced.elements / 2);
  for (size_t i = 0; i + 1 < announced.elements; i += 2) {
    const auto reader = ParseId(Text(At(announced, i)));
    const auto number = NumberOfScore(Text(At(announced, i + 1)));
    // Nobody may be passed over, since a page that is not full ends the news.
    if (!reader || !number) return unexpected();
    news.announced.push_back({UserId{*reader}, *number});
  }
  return news;
}

// ---- position -------------------------------------------------------------------------------

CommandBuffer Encode(const SavePosition& request, const Options&, const Keys& keys) {
  return CommandOf("EVALSHA", DigestOf(Script::kSavePosition), 2, keys.Own(request.range),
                   keys.Pos(request.range), request.epoch, TextOf(request.expected, keys.layout()),
                   TextOf(request.next, keys.layout()));
}

PositionSaved Parse(const SavePosition&, const redisReply& reply, const RangeLayout&) {
  PositionSaved saved;
  const auto answer = Integer(reply);
  if (!answer) saved.status = UnexpectedAnswer("save_position");
  saved.mismatch = answer == 0;
  return saved;
}

// ---- one timeline ---------------------------------------------------------------------------

CommandBuffer Encode(const ApplySync& request, const Options& options, const Keys& keys) {
  CommandBuffer out = BeginCall(Script::kSync, 4, 11 + 2 * request.items.size());
  out.Args(keys.Own(request.range), keys.Live(request.range), keys.MaxFloor(request.range),
           keys.Timeline(request.range, request.reader));
  out.Args(request.epoch, options.window.window, options.window.trim_above(),
           options.window.underfilled_below(), kMaxAddsPerWrite);
  if (request.floor_at_least) {
    out.Arg(ScoreOf(*request.floor_at_least));
  } else {
    out.Arg("");
  }
  const int which = !request.marked ? 0 : request.no_reposts ? 2 : 1;
  out.Args(options.window.most_marks(), MemberText::OfMark({request.author, false}),
           MemberText::OfMark({request.author, true}), which, MemberText::OfAuthor(request.author));
  for (const Item& item : request.items) {
    out.Args(ScoreOf(item.created_at), MemberText(item));
  }
  return out;
}

SyncApplied Parse(const ApplySync&, const redisReply& reply, const RangeLayout&) {
  SyncApplied applied;
  const auto answer = Integer(reply);
  if (!answer) applied.status = UnexpectedAnswer("sync");
  applied.live = answer == 1;
  applied.full = answer == 2;
  return applied;
}

CommandBuffer Encode(const SetMutes& request, const Options& options, const Keys& keys) {
  CommandBuffer out = BeginCall(Script::kSetMutes, 4, 4);
  out.Args(keys.Own(request.range), keys.Live(request.range), keys.MaxFloor(request.range),
           keys.Timeline(request.range, request.reader));
  out.Args(request.epoch, options.window.window, options.window.trim_above());
  request.mutes == 0 ? out.Arg("") : out.Arg(MemberText::OfMutes(request.mutes));
  return out;
}

MutesSet Parse(const SetMutes&, const redisReply& reply, const RangeLayout&) {
  MutesSet set;
  const auto answer = Integer(reply);
  if (!answer) set.status = UnexpectedAnswer("set_mutes");
  set.live = answer == 1;
  set.full = answer == 2;
  return set;
}

CommandBuffer Encode(const DropTimeline& request, const Options&, const Keys& keys) {
  return CommandOf("EVALSHA", DigestOf(Script::kDrop), 3, keys.Own(request.range),
                   keys.Live(request.range), keys.Timeline(request.range, request.reader),
                   request.epoch);
}

TimelineDropped Parse(const DropTimeline&, const redisReply& reply, const RangeLayout&) {
  TimelineDropped dropped;
  if (!Integer(reply)) dropped.status = UnexpectedAnswer("drop");
  return dropped;
}

// ---- delivery marks -------------------------------------------------------------------------

CommandBuffer Encode(const MarkPart& request, const Options& options, const Keys& keys) {
  return CommandOf("EVALSHA", DigestOf(Script::kMarkPart), 1,
                   keys.Done(request.author, request.post), request.part,
                   keys.layout().partitions(), request.parts, request.delivered ? 1 : 0,
                   options.done_ttl.count());
}

PartMarked Parse(const MarkPart&, const redisReply& reply, const RangeLayout&) {
  PartMarked marked;
  if (!IsArray(reply, 3)) {
    marked.status = UnexpectedAnswer("mark_part");
    return marked;
  }
  marked.first_delivery = Integer(At(reply, 0)) == 1;
  marked.last_part = Integer(At(reply, 1)) == 1;
  marked.any_delivery = Integer(At(reply, 2)) == 1;
  return marked;
}

}  // namespace fanline::redis
