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

using States = std::unordered_map<EdgeKey, EdgeState>;
using RowsSql = std::string (*)(std::span<const EdgeKey>);

States ReadStates(Connection& connection, RowsSql sql, const std::vector<EdgeKey>& edges) {
  States states;
  ForEachChunk(edges, kListLimit, [&](std::span<const EdgeKey> chunk) {
    connection.Query(sql(chunk), [&](const Row& row) {
      states[{UserId{row.UInt64(1)}, UserId{row.UInt64(2)}}] = {row.UInt64(3), row.Bool(4),
                                                                row.Int64(5)};
    });
  });
  return states;
}

EdgeState Find(const States& states, const EdgeKey& edge) {
  const auto found = states.find(edge);
  return found == states.end() ? EdgeState{} : found->second;
}

}  // namespace

std::vector<Standing> StandingsOf(Connection& connection, const CheckUsers& request) {
  std::vector<UserId> others = request.others;
  SortUnique(others);
  std::unordered_set<UserId> followed;
  States followers;
  if (request.sides != Sides::kFollowers) {
    followed = ReadFollowed(connection, request.user, others);
  }
  if (request.sides != Sides::kFollowing) {
    std::vector<EdgeKey> edges;
    for (const UserId other : others) edges.push_back({other, request.user});
    followers = ReadStates(connection, ReverseRowsSql, edges);
  }
  std::vector<Standing> standings;
  for (const UserId other : request.others) {
    standings.push_back({followed.contains(other), Find(followers, {other, request.user})});
  }
  return standings;
}

std::vector<EdgeState> ForwardStatesOf(Connection& connection, const std::vector<EdgeKey>& edges) {
  const States states = ReadStates(connection, ForwardRowsSql, edges);
  std::vector<EdgeState> found;
  for (const EdgeKey& edge : edges) found.push_back(Find(states, edge));
  return found;
}

PairState PairStateOf(Connection& connection, UserId user, UserId other) {
  const EdgeKey following{user, other}, followed_by{other, user};
  return {Find(ReadStates(connection, ForwardRowsSql, {following}), following),
          Find(ReadStates(connection, ReverseRowsSql, {followed_by}), followed_by)};
}

}  // namespace fanline::mysql
