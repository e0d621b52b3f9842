#include "backends/mysql/repairs/counter_store.h"

#include <algorithm>
#include <chrono>

#include "backends/mysql/edges/recounts.h"
#include "backends/mysql/repairs/counter_repair.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

struct Place {
  UserId after{};
  bool due = true;
};

Place ReadPlace(Connection& connection, std::chrono::seconds every) {
  Place place;
  connection.Query(
      Sql("SELECT after_user, after_user > 0 OR began + ", std::chrono::milliseconds(every).count(),
          " <= ", kNowMs, " FROM counter_sweep"),
      [&](const Row& row) {
        place = {UserId{row.UInt64(1)}, row.Bool(2)};
      });
  return place;
}

// If another sweeper has moved on from `after` meanwhile, its place is kept.
void WritePlace(Connection& connection, UserId after, UserId next) {
  connection.Execute(Sql("INSERT INTO counter_sweep (began, after_user) VALUES (", kNowMs, ",",
                         next, ") ON DUPLICATE KEY UPDATE began = IF(after_user = ", after, ", ",
                         Raw(after) == 0 ? kNowMs : "began",
                         ", began), after_user = IF(after_user = ", after, ", ", next,
                         ", after_user)"));
}

struct Wrong {
  std::vector<UserId> followed, followers;
  void Note(const CountersSeen& seen) {
    if (seen.followed.drift() != 0) followed.push_back(seen.user);
    if (seen.followers.drift() != 0) followers.push_back(seen.user);
  }
};

}  // namespace

CountersSwept SweepPage(Connection& connection, const ShardMap& map, std::chrono::seconds every,
                        uint32_t rows) {
  const Place place = ReadPlace(connection, every);
  if (!place.due) return {.status = {}, .over = true};
  OwnersPage page = ReadOwners(connection, map, place.after, rows);
  if (page.owners.size() > kListLimit) {
    page.owners.resize(kListLimit);
    page.known = page.owners.back();
  }
  CountersSwept swept{.status = {}, .users = page.owners.size(), .over = !page.known};
  Wrong wrong;
  // The last user may own any number of rows, the others at most the number read.
  const bool large = page.known && !page.owners.empty() && page.owners.back() == *page.known;
  if (large) {
    const UserId user = page.owners.back();
    page.owners.pop_back();
    wrong.Note({user, CountOne(connection, {user, Counter::kFollowed}),
                CountOne(connection, {user, Counter::kFollowers})});
  }
  for (const CountersSeen& seen : LookAt(connection, page.owners)) wrong.Note(seen);
  MarkForRecount(connection, Counter::kFollowed, wrong.followed);
  MarkForRecount(connection, Counter::kFollowers, wrong.followers);
  swept.marked = wrong.followed.size() + wrong.followers.size();
  WritePlace(connection, place.after, page.known.value_or(UserId{}));
  return swept;
}

Config CounterService::Tuned(Config config) {
  config.read_timeout = std::max(config.read_timeout, std::chrono::seconds(60));
  return config;
}

MarkedRead CounterService::Do(Connection& connection, const ReadMarked& request) {
  return {.status = {}, .counters = MarkedForRecount(connection, request.limit)};
}

CounterRepaired CounterService::Do(Connection& connection, const RepairCounter& request) {
  const CounterFound found = RepairOne(connection, request.counter);
  return {.status = {}, .drift = found.drift(), .repaired = found.repaired};
}

CountersSwept CounterService::Do(Connection& connection, const SweepCounters& request) {
  return SweepPage(connection, map, request.every);
}

// The rows are found first and then deleted by key. A DELETE by age would lock the index up to the
// first row that is young enough, or to its end, where repairs are being added.
RepairsPurged CounterService::Do(Connection& connection, const PurgeRepairs& request) {
  const auto old = connection.All(
      Sql("SELECT id FROM repair_log FORCE INDEX (by_time) WHERE at < ", kNowMs, " - ",
          std::chrono::milliseconds(request.keep).count(), " ORDER BY at LIMIT ", request.most),
      [](const Row& row) { return row.UInt64(1); });
  RepairsPurged reply;
  ForEachChunk(old, kIdsLimit, [&](std::span<const uint64_t> chunk) {
    reply.deleted += connection.Execute(Sql("DELETE FROM repair_log WHERE id IN ", InList(chunk)));
  });
  return reply;
}

}  // namespace fanline::mysql
