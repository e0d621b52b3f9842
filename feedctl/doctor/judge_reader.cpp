// What the facts about one reader mean.
#include <algorithm>

#include "daemon/observe/log.h"
#include "feedctl/auditing/findings_text.h"
#include "feedctl/doctor/reader.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kUser = "user";
constexpr const char* kTimeline = "timeline";
constexpr const char* kDelivery = "delivery";
constexpr size_t kDifferencesShown = 3;

std::string Ago(UnixMs then, UnixMs now) {
  const double seconds = std::max<double>(0, static_cast<double>(now - then) / 1000);
  if (seconds < 120) return Seconds(seconds) + " ago";
  if (seconds < 48 * 3600) return Counted(static_cast<uint64_t>(seconds / 60), "minute") + " ago";
  return Counted(static_cast<uint64_t>(seconds / 86'400), "day") + " ago";
}

std::string At(UnixMs when, UnixMs now) { return daemon::Rfc3339(when) + ", " + Ago(when, now); }

const char* ModeOf(const AuthorMode& mode) {
  if (mode.pull) return "merged at read";
  return mode.marked ? "pushed; older ones may be merged at read" : "pushed";
}

void JudgeFollowed(const ReaderFacts& facts, Checks& checks) {
  std::string users = Counted(facts.follows, "user");
  if (facts.muted > 0) users += ", " + Grouped(facts.muted) + " of them muted";
  if (facts.no_reposts > 0) users += ", " + Grouped(facts.no_reposts) + " of them without reposts";
  if (facts.posts_away) {
    checks.push_back({kUser, "follows", Level::kWell, users});
    return checks.push_back(Away(kUser, "their posts", facts.posts_away));
  }
  UnixMs newest = 0;
  uint64_t posted = 0, marked = 0;
  for (const AuthorLastAt& author : facts.followed) {
    newest = std::max(newest, author.last_at);
    posted += author.last_at > 0 ? 1 : 0;
    marked += author.marked ? 1 : 0;
  }
  std::string follows = users + ", " + Grouped(posted) + " of them posted";
  if (marked > 0) follows += ", " + Grouped(marked) + " of them merged at read";
  if (newest > 0) follows += "; the last post at " + At(newest, facts.now);
  checks.push_back({kUser, "follows", Level::kWell, follows});
}

void JudgeUser(const ReaderFacts& facts, Checks& checks) {
  checks.push_back({kUser, "user " + ToString(facts.user), Level::kWell,
                    "bucket " + std::to_string(facts.bucket) + ", range " +
                        std::to_string(facts.range) + ", shard " + std::to_string(facts.shard)});
  if (facts.truth_away) return checks.push_back(Away(kUser, "truth", facts.truth_away));
  JudgeFollowed(facts, checks);
  if (facts.mutes_damaged) {
    const std::string user = ToString(facts.user);
    checks.push_back(
        {kUser, "mutes", Level::kLook,
         "the row of user " + user + " in the table mute is damaged: nobody knows whom it named",
         "PUT /v1/users/" + user +
             "/mutes with the whole list and If-Match: *, which replaces the row"});
  }
  const auto counted = static_cast<int64_t>(facts.follows);
  if (facts.counts.following != counted) {
    checks.push_back({kUser, "counter", Level::kLook,
                      "says that the user follows " + std::to_string(facts.counts.following),
                      "feedctl relations counters --repair " + ToString(facts.user),
                      "relations.md#fanlinecountersdrift"});
  }
  checks.push_back({kUser, "followers", Level::kWell, std::to_string(facts.counts.followers)});
  checks.push_back({kUser, "own posts", Level::kWell, ModeOf(facts.mode)});
}

std::string FloorText(const ReaderFacts& facts) {
  if (facts.timeline.floor == kNoFloor) return "no floor: nothing older exists";
  return "complete above " + At(facts.timeline.floor, facts.now);
}

const char* WhyUnseen(const PostState& state) {
  if (state.deleted) return "deleted";
  return state.hidden ? "hidden" : "not published";
}

// What a repost shows, and why no page shows it.
std::string OriginalText(const ReaderFacts& facts, const Original& original) {
  const std::string text = ShownText(original);
  const auto found = facts.originals.find(original);
  if (found == facts.originals.end()) return text;
  const std::optional<PostState>& state = found->second;
  if (!state) return text + ", which may be gone: its shard does not answer";
  return state->visible() ? text : text + ", which is " + WhyUnseen(*state) + ": no page shows it";
}

void JudgeItems(const ReaderFacts& facts, Checks& checks) {
  const RawTimeline& timeline = facts.timeline;
  std::string state = "live, " + Counted(timeline.items.size(), "item") + ", " + FloorText(facts);
  const size_t marks = timeline.marks.authors.size();
  if (marks > 0) {
    state += "; " + Counted(marks, "author") + (timeline.marks.more ? " and more" : "") +
             " merged at read";
  }
  checks.push_back({kTimeline, "state", Level::kWell, state});
  const bool listed = !facts.state || facts.state->index_complete;
  checks.push_back(
      facts.indexed
          ? Check{kTimeline, "index", Level::kWell,
                  listed ? "named by the range's index" : "the range's index is not complete yet"}
          : Check{kTimeline, "index", Level::kLook, "not named: pushes skip it",
                  "feedctl audit --repair", "delivery.md#fanlinetimelineswrong"});
  if (facts.ttl) {
    checks.push_back({kTimeline, "lives for", Level::kWell,
                      Counted(static_cast<uint64_t>(facts.ttl->count()) / 60'000, "minute") +
                          " more, unless it is read"});
  } else {
    checks.push_back({kTimeline, "lives for", Level::kLook, "ever: it has no TTL",
                      "feedctl audit --repair", "delivery.md#fanlinetimelineswrong"});
  }
  const size_t shown = std::min(kItemsShown, timeline.items.size());
  for (size_t i = 0; i < shown; ++i) {
    const Item& item = timeline.items[i];
    checks.push_back({kTimeline, i == 0 ? "newest items" : "", Level::kWell,
                      std::string(NameOf(item.kind())) + " " + ToString(item.post) + ", created " +
                          At(item.created_at, facts.now) + ", of author " + ToString(item.author) +
                          OriginalText(facts, item.original)});
  }
}

void JudgeComparison(const ReaderFacts& facts, Checks& checks) {
  if (!facts.judged && facts.differences.empty()) {
    checks.push_back(facts.too_much
                         ? Check{kTimeline, "compared", Level::kNote,
                                 "except its posts: the user follows more than one look reads",
                                 "feedctl audit"}
                         : Check{kTimeline, "compared", Level::kNote,
                                 "not with the shards: not all of their rows could be read",
                                 "look again when every shard answers"});
    return;
  }
  if (facts.differences.empty()) {
    checks.push_back({kTimeline, "compared", Level::kWell, "holds what the shards say"});
    return;
  }
  std::string text = Counted(facts.differences.size(), "difference") + ": ";
  for (size_t i = 0; i < std::min(kDifferencesShown, facts.differences.size()); ++i) {
    text += (i > 0 ? "; " : "") + ToText(facts.differences[i]);
  }
  const bool flying = facts.hints_waiting.value_or(0) > 0;
  checks.push_back({kTimeline, "compared", Level::kLook, text,
                    flying ? "hints wait for this range: look again when they are applied"
                           : "feedctl audit --repair, if it is still wrong when you look again",
                    "delivery.md#fanlinetimelinesmissposts"});
}

void JudgeTimeline(const ReaderFacts& facts, Checks& checks) {
  if (facts.redis_away) {
    return checks.push_back(Away(kTimeline, "Redis", facts.redis_away));
  }
  if (!facts.timeline.problem.empty()) {
    checks.push_back({kTimeline, "state", Level::kLook,
                      "the key is not a timeline: " + facts.timeline.problem,
                      "feedctl audit --repair", "delivery.md#fanlinetimelinesunwritable"});
  } else if (facts.timeline.state == TimelineState::kNotLive) {
    checks.push_back(
        {kTimeline, "state", Level::kNote,
         "not live: not read for long, or dropped; pages are pulled, and the next read "
         "makes it live"});
  } else if (facts.timeline.state == TimelineState::kBuilding) {
    checks.push_back({kTimeline, "state", Level::kNote,
                      "being made live, which may take a minute at most", "look again"});
  } else {
    JudgeItems(facts, checks);
    JudgeComparison(facts, checks);
  }
}

void JudgeDelivery(const ReaderFacts& facts, Checks& checks) {
  const std::string range = "range " + std::to_string(facts.range);
  if (facts.kafka_away) {
    checks.push_back(Away(kDelivery, "Kafka", facts.kafka_away));
  } else if (!facts.tasks_exist) {
    checks.push_back({kDelivery, "hints", Level::kLook,
                      "there is no topic of the installation's hints", "feedctl topics create",
                      "daemons.md#fanlinenotready"});
  } else if (!facts.owner_known) {
    checks.push_back({kDelivery, range, Level::kNote, "who owns it is not known just now"});
  } else if (!facts.owner) {
    checks.push_back({kDelivery, range, Level::kLook, "nobody owns it", "feedctl ranges",
                      "delivery.md#fanlinerangeswithoutowner"});
  } else {
    checks.push_back({kDelivery, range, Level::kWell,
                      "owned by " + facts.owner->client + "@" + facts.owner->host});
  }
  if (facts.hints_waiting) {
    checks.push_back(
        {kDelivery, "hints", Level::kWell, Grouped(*facts.hints_waiting) + " wait for this range"});
  }
  if (facts.state && facts.state->status.done()) {
    checks.push_back({kDelivery, "Redis", Level::kWell,
                      facts.state->master + ", epoch " + std::to_string(facts.state->owner)});
  }
}

}  // namespace

Check JudgeUnplaced(UserId user, const std::vector<ShardFacts>& shards) {
  return {kUser, "user " + ToString(user), Level::kNote,
          "bucket " + std::to_string(BucketOf(user)) + "; the rest is " + NotKnownOf(shards)};
}

Checks JudgeReader(const ReaderFacts& facts) {
  Checks checks;
  JudgeUser(facts, checks);
  JudgeTimeline(facts, checks);
  JudgeDelivery(facts, checks);
  return checks;
}

}  // namespace fanline::feedctl
