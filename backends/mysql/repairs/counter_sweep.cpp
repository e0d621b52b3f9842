#include "backends/mysql/repairs/counter_sweep.h"

#include <string>
#include <vector>

#include "backends/mysql/edges/recounts.h"
#include "backends/mysql/repairs/counter_repair.h"
#include "backends/mysql/repairs/counter_walk.h"
#include "backends/mysql/sql/chunks.h"

namespace fanline::mysql {
namespace {

constexpr const char* kNow = "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)";

struct Place {
  UserId after{};
  bool due = true;
};

Place ReadPlace(Connection& connection, std::chrono::seconds every) {
  Place place;
  const auto age = std::to_string(std::chrono::milliseconds(every).count());
  connection.Query(std::string("SELECT after_user, after_user > 0 OR began + ") + age +
                       " <= " + kNow + " FROM counter_sweep",
                   [&](const Row& row) {
                     place = {UserId{row.UInt64(1)}, row.Bool(2)};
                   });
  return place;
}

// If another sweeper has moved on from `after` meanwhile, its place is kept.
void WritePlace(Connection& connection, UserId after, UserId next) {
  const std::string began = Raw(after) == 0 ? kNow : "began";
  connection.Execute(std::string("INSERT INTO counter_sweep (began, after_user) VALUES (") + kNow +
                     "," + ToString(next) +
                     ") ON DUPLICATE KEY UPDATE began = IF(after_user = " + ToString(after) + ", " +
                     began + ", began), after_user = IF(after_user = " + ToString(after) + ", " +
                     ToString(next) + ", after_user)");
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

}  // namespace fanline::mysql
