// Everything about one reader. If a service does not answer, the others are still asked.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/findings.h"
#include "backends/kafka/admin.h"
#include "backends/mysql/installation/installation.h"
#include "backends/redis/range_states.h"
#include "fanline/model/author_mode.h"
#include "fanline/model/post_state.h"
#include "fanline/ports/raw_timeline.h"
#include "fanline/ports/reader_ports.h"
#include "fanline/ports/relation_store.h"
#include "feedctl/doctor/judge.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// How many of the newest items of a timeline are told.
inline constexpr size_t kItemsShown = 3;

struct ReaderFacts {
  UserId user{};
  Shard shard = 0;
  Bucket bucket = 0;
  Range range = 0;
  UnixMs now = 0;

  // From the reader's shard.
  Why truth_away = {};
  UserFacts known = {};
  RelationCounts counts = {};
  AuthorMode mode = {};  // the user's as an author
  uint64_t follows = 0;
  uint64_t muted = 0;          // of `follows`
  uint64_t no_reposts = 0;     // of `follows`: those that bring all but reposts
  bool mutes_damaged = false;  // the row of table mute

  // From the shards of followed users.
  Why posts_away = {};
  std::vector<AuthorLastAt> followed = {};  // users who have a row
  // What reposts among the items told show. Nothing: its shard does not answer.
  std::map<Original, std::optional<PostState>> originals = {};

  // From Redis.
  Why redis_away = {};
  std::optional<redis::RangeState> state = {};  // of the range
  RawTimeline timeline = {};
  bool indexed = true;
  std::optional<std::chrono::milliseconds> ttl = {};
  bool judged = false;    // compared with the truth
  bool too_much = false;  // to read, so no post was compared
  std::vector<audit::Difference> differences = {};

  // From Kafka.
  Why kafka_away = {};
  bool tasks_exist = true;                      // the topic of hints; if false, nothing is known
  bool owner_known = true;                      // false: for example, the group is rebalancing
  std::optional<kafka::GroupOwner> owner = {};  // of the range
  std::optional<uint64_t> hints_waiting = {};   // of the range, beyond its position in Redis
};

// `installation`: what the shards that answer agree on. Failure 67 when the user is unknown.
[[nodiscard]] ReaderFacts AskReader(const Settings& settings,
                                    const mysql::Installation& installation, UserId user,
                                    const std::string& pusher_group);

// Pure.
[[nodiscard]] Checks JudgeReader(const ReaderFacts& facts);
// For a user whose shard is unknown, since no shard tells how users are spread.
[[nodiscard]] Check JudgeUnplaced(UserId user, const std::vector<ShardFacts>& shards);

}  // namespace fanline::feedctl
