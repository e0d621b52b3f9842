#include "backends/mysql/edges/relation_store.h"

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/edges/mutes.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {

EdgeChanged RelationService::Do(Connection& connection, const ChangeEdge& request) const {
  return ForwardService{map, most_followed}.Do(connection, request);
}

UsersChecked RelationService::Do(Connection& connection, const CheckUsers& request) const {
  std::vector<EdgeKey> following, followed_by;
  for (const UserId other : request.others) {
    following.push_back({request.user, other});
    followed_by.push_back({other, request.user});
  }
  UsersChecked reply{.status = {}, .standings = std::vector<Standing>(request.others.size())};
  if (request.sides != Sides::kFollowers) {
    const auto states = StatesOf(connection, following, ForwardRowsSql);
    for (size_t i = 0; i < states.size(); ++i) reply.standings[i].followed = states[i].live;
  }
  if (request.sides != Sides::kFollowing) {
    const auto states = StatesOf(connection, followed_by, ReverseRowsSql);
    for (size_t i = 0; i < states.size(); ++i) reply.standings[i].follower = states[i];
  }
  return reply;
}

PairRead RelationService::Do(Connection& connection, const ReadPair& request) const {
  const UserId user = request.user, other = request.other;
  return {.status = {},
          .pair = {StatesOf(connection, {{user, other}}, ForwardRowsSql).front(),
                   StatesOf(connection, {{other, user}}, ReverseRowsSql).front()}};
}

ForwardRead RelationService::Do(Connection& connection, const ReadForward& request) const {
  return {.status = {}, .states = StatesOf(connection, request.edges, ForwardRowsSql)};
}

RelationsCounted RelationService::Do(Connection& connection, const CountRelations& request) const {
  return {.status = {}, .counts = RelationCountsOf(connection, request.user)};
}

FriendshipRead RelationService::Do(Connection& connection, const ReadFriendship& request) const {
  const Friendship now = ReadPairRow(connection, request.one, request.other);
  connection.RequirePrimary();
  return {.status = {}, .now = now};
}

RoomAsked RelationService::Do(Connection& connection, const AskRoom& request) const {
  const UserId src = request.edge.src;
  const bool full =
      0 <
      connection.Number(Sql(
          "SELECT COALESCE((SELECT following_cnt FROM user_rel WHERE user_id = ", src,
          "), 0) >= ", most_followed, " AND NOT EXISTS (SELECT 1 FROM following WHERE src = ", src,
          " AND dst = ", request.edge.dst, " AND state = 1)"));
  connection.RequirePrimary();
  if (!full) return {};
  return {.status = Status::Never("user " + ToString(src) + " follows " +
                                  std::to_string(most_followed) + " already"),
          .full = src};
}

ChangeUsedUp RelationService::Do(Connection& connection, const UseUpChange& request) const {
  const auto again_in = TakeChange(connection, request.user, most_followed);
  return {.status = again_in ? TooOften(most_followed) : Status::Done(), .again_in = again_in};
}

PairAnnounced RelationService::Do(Connection& connection, const AnnouncePair& request) const {
  return {.status = {}, .settled = AnnounceFriendship(connection, request.edge, request.version)};
}

MutesChanged RelationService::Do(Connection& connection, const ChangeMutes& request) const {
  return ChangeMutesRow(connection, request);
}

MirrorModeRead RelationService::Do(Connection& connection, const ReadMirrorMode&) const {
  return {.status = {}, .mode = GetMirrorMode(connection)};
}

}  // namespace fanline::mysql
