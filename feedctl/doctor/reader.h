// Everything about one reader. What does not answer hides nothing else.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "audit/findings.h"
#include "backends/kafka/tools/group_owners.h"
#include "backends/mysql/installation/installation.h"
#include "backends/redis/range_states.h"
#include "fanline/model/author_mode.h"
#include "fanline/ports/raw_timeline.h"
#include "fanline/ports/reader_ports.h"
#include "fanline/ports/relation_store.h"
#include "feedctl/doctor/judge.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

struct ReaderFacts {
  UserId user{};
  Shard shard = 0;
  Bucket bucket = 0;
  Range range = 0;
  UnixMs now = 0;

  // Of the reader's shard.
  Why truth_away = {};
  UserFacts known = {};
  RelationCounts counts = {};
  AuthorMode mode = {};  // of the user as an author
  uint64_t follows = 0;

  // Of the shards of those who are followed.
  Why posts_away = {};
  std::vector<AuthorLastAt> followed = {};  // those who have a row

  // Of Redis.
  Why redis_away = {};
  std::optional<redis::RangeState> state = {};  // of the range
  RawTimeline timeline = {};
  bool indexed = true;
  std::optional<std::chrono::milliseconds> ttl = {};
  bool judged = false;    // compared with the truth
  bool too_much = false;  // of which there is more than can be read: no post was compared
  std::vector<audit::Difference> differences = {};

  // Of Kafka.
  Why kafka_away = {};
  bool tasks_exist = true;                      // the topic of the hints; else nothing is known
  bool owner_known = true;                      // else they are shared out just now, say
  std::optional<kafka::GroupOwner> owner = {};  // of the range
  std::optional<uint64_t> hints_waiting = {};   // of the range
};

// `installation` is what the shards that answer agree on. Failure 67 when nobody knows the user.
[[nodiscard]] ReaderFacts AskReader(const Settings& settings,
                                    const mysql::Installation& installation, UserId user,
                                    const std::string& pusher_group);

// Pure.
[[nodiscard]] Checks JudgeReader(const ReaderFacts& facts);
// Of whom nothing is known, as no shard tells how users are spread.
[[nodiscard]] Check JudgeUnplaced(UserId user, const std::vector<ShardFacts>& shards);

}  // namespace fanline::feedctl
