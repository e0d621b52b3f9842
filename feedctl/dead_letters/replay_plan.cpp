#include "feedctl/dead_letters/replay_plan.h"

#include "fanline/wire/relation_log.h"
#include "fanline/wire/relation_retry.h"

namespace fanline::feedctl {
namespace {

bool IsOfTheLetter(const std::string& name) {
  return name == kReasonHeader || name == kStageHeader || name == kOriginHeader ||
         name == kOmittedHeader || name == kFirstAppendedHeader;
}

// The record's own headers, when it was first appended, and which letter it was.
Headers HeadersAgain(const Letter& letter) {
  Headers headers;
  for (const auto& header : letter.record.headers) {
    if (!IsOfTheLetter(header.first)) headers.push_back(header);
  }
  headers.emplace_back(kFirstAppendedHeader, std::to_string(FirstAppended(letter.record)));
  headers.emplace_back(kReplayHeader, ToString(letter.place));
  return headers;
}

std::vector<Range> RangesOf(const Hint& hint, const RangeLayout& layout) {
  if (const auto* sync = std::get_if<Hint::Sync>(&hint.what)) return {layout.RangeOf(sync->reader)};
  std::vector<Range> all;
  for (uint32_t range = 0; range < layout.partitions(); ++range) {
    all.push_back(static_cast<Range>(range));
  }
  return all;
}

// A sample would measure how long the letter waited for its replay.
Hint WithoutSample(Hint hint) {
  if (auto* post = std::get_if<Hint::Post>(&hint.what)) post->sample.reset();
  return hint;
}

// Names the version alone: what the letter said of the edge may be older than its rows.
ReplayPlan CheckOf(const Letter& letter) {
  const Decoded<RelationMessage> decoded = DecodeRelationMessage(letter.record.value);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) {
    return CannotReplay{"it is not a message of " + std::string(kRelationLogTopic) + " (" +
                        refused->reason + "); look at the row of log1 that its reason names"};
  }
  const auto& message = std::get<RelationMessage>(decoded);
  const EdgeKey edge = KeyOf(message);
  const auto* written = std::get_if<EdgeWritten>(&message);
  const uint64_t ver = written != nullptr ? written->edge.ver : std::get<EdgeMirrored>(message).ver;
  return AppendAgain{kRelationRetryTopic, RelationLogKey(edge),
                     EncodeRelationRetry({.edge = edge, .claim = {{ver}}}), HeadersAgain(letter)};
}

}  // namespace

ReplayPlan PlanOf(const Letter& letter, const RangeLayout& layout) {
  if (!letter.omitted.empty()) {
    return CannotReplay{"its value was not kept; the record may still be at " + letter.origin};
  }
  if (letter.kind == LetterKind::kRelation) return CheckOf(letter);
  if (letter.kind != LetterKind::kHint) {
    return AppendAgain{letter.source, letter.record.key, letter.record.value, HeadersAgain(letter)};
  }
  const Decoded<Hint> decoded = DecodeHint(letter.record.value);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) {
    return CannotReplay{"it is not a hint (" + refused->reason +
                        "); nothing is missing: the timelines of its range were dropped, and are "
                        "rebuilt from the rows"};
  }
  const Hint hint = WithoutSample(std::get<Hint>(decoded));
  return HintAnew{hint, RangesOf(hint, layout), HeadersAgain(letter)};
}

}  // namespace fanline::feedctl
