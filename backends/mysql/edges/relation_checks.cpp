#include "backends/mysql/edges/relation_checks.h"

#include <span>
#include <unordered_map>
#include <unordered_set>

#include "backends/mysql/edges/relation_statements.h"
#include "backends/mysql/sql/chunks.h"

namespace fanline::mysql {
namespace {

std::unordered_set<UserId> ReadFollowed(Connection& connection, UserId user,
                                        const std::vector<UserId>& others) {
  std::unordered_set<UserId> followed;
  ForEachChunk(others, kListLimit, [&](std::span<const UserId> chunk) {
    connection.Query(FollowedAmongSql(user, chunk),
                     [&](const Row& row) { followed.insert(UserId{row.UInt64(1)}); });
  });
  return followed;
}

}  // namespace

std::vector<EdgeState> StatesOf(Connection& connection, const std::vector<EdgeKey>& edges,
                                const std::function<RowsSql>& sql) {
  std::vector<EdgeKey> wanted = edges;
  SortUnique(wanted);
  std::unordered_map<EdgeKey, EdgeState> found;
  ForEachChunk(wanted, kListLimit, [&](std::span<const EdgeKey> chunk) {
    connection.Query(sql(chunk), [&](const Row& row) {
      found[{UserId{row.UInt64(1)}, UserId{row.UInt64(2)}}] = {row.UInt64(3), row.Bool(4),
                                                               row.Int64(5)};
    });
  });
  std::vector<EdgeState> states;
  for (const EdgeKey& edge : edges) states.push_back(found[edge]);
  return states;
}

std::vector<Standing> StandingsOf(Connection& connection, const CheckUsers& request) {
  std::vector<UserId> others = request.others;
  SortUnique(others);
  std::unordered_set<UserId> followed;
  std::vector<EdgeState> followers(request.others.size());
  if (request.sides != Sides::kFollowers) {
    followed = ReadFollowed(connection, request.user, others);
  }
  if (request.sides != Sides::kFollowing) {
    std::vector<EdgeKey> edges;
    for (const UserId other : request.others) edges.push_back({other, request.user});
    followers = StatesOf(connection, edges, ReverseRowsSql);
  }
  std::vector<Standing> standings;
  for (size_t i = 0; i < followers.size(); ++i) {
    standings.push_back({followed.contains(request.others[i]), followers[i]});
  }
  return standings;
}

PairState PairStateOf(Connection& connection, UserId user, UserId other) {
  return {StatesOf(connection, {{user, other}}, ForwardRowsSql).front(),
          StatesOf(connection, {{other, user}}, ReverseRowsSql).front()};
}

}  // namespace fanline::mysql
