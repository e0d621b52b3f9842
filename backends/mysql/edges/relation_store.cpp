#include "backends/mysql/edges/relation_store.h"

#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/edges/relation_checks.h"
#include "backends/mysql/edges/relation_statements.h"

namespace fanline::mysql {

EdgeChanged RelationService::Do(Connection& connection, const ChangeEdge& request) const {
  return ForwardService{map, most_followed}.Do(connection, request);
}

PairRead RelationService::Do(Connection& connection, const ReadPair& request) const {
  return {.status = {}, .pair = PairStateOf(connection, request.user, request.other)};
}

ListRead RelationService::Do(Connection& connection, const ReadList& request) const {
  return {.status = {}, .page = ListRelations(connection, request, most_followers_shown)};
}

RelationsCounted RelationService::Do(Connection& connection, const CountRelations& request) const {
  return {.status = {}, .counts = RelationCountsOf(connection, request.user)};
}

UsersChecked RelationService::Do(Connection& connection, const CheckUsers& request) const {
  return {.status = {}, .standings = StandingsOf(connection, request)};
}

ForwardRead RelationService::Do(Connection& connection, const ReadForward& request) const {
  return {.status = {}, .states = StatesOf(connection, request.edges, ForwardRowsSql)};
}

FriendshipRead RelationService::Do(Connection& connection, const ReadFriendship& request) const {
  const Friendship now = ReadPairRow(connection, request.one, request.other);
  connection.RequirePrimary();
  return {.status = {}, .now = now};
}

RoomAsked RelationService::Do(Connection& connection, const AskRoom& request) const {
  const UserId src = request.edge.src;
  const bool full = FollowsAsManyAsMayBe(connection, request.edge, most_followed);
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

FriendshipWritten RelationService::Do(Connection& connection,
                                      const WriteFriendship& request) const {
  return WritePairRow(connection, request);
}

MirrorModeRead RelationService::Do(Connection& connection, const ReadMirrorMode&) const {
  return {.status = {}, .mode = GetMirrorMode(connection)};
}

}  // namespace fanline::mysql
