#include "feedctl/relations/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fanline::feedctl {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

UserId User(uint64_t raw) { return UserId{raw}; }

Graph GraphOf(const std::vector<std::string>& lines) {
  Graph graph;
  for (const std::string& line : lines) {
    const auto added = graph.AddLine(line, 0);
    EXPECT_FALSE(std::holds_alternative<BadEdge>(added)) << line;
  }
  return graph;
}

TEST(Graph, KeepsEdgesAsGivenAndLeavesOutThoseToOneself) {
  const Graph graph = GraphOf({"1 2", "1 2", "3 3", "2 1"});
  EXPECT_THAT(graph.edges(), ElementsAre(EdgeKey{User(1), User(2)}, EdgeKey{User(1), User(2)},
                                         EdgeKey{User(2), User(1)}));
  EXPECT_EQ(graph.to_oneself(), 1u);
}

TEST(Graph, UsersAreEverybodyAtEitherEndOnce) {
  EXPECT_THAT(GraphOf({"9 2", "2 5", "7 7", "9 5"}).Users(),
              ElementsAre(User(2), User(5), User(7), User(9)));
}

TEST(Graph, AnAuthorForEverybodyIsFollowedByAllButHimself) {
  Graph graph = GraphOf({"1 2", "3 4"});
  const auto users = graph.Users();
  EXPECT_EQ(graph.AddAuthor(User(3), users, 1), 3u);
  EXPECT_THAT(graph.edges(), Contains(EdgeKey{User(1), User(3)}));
  EXPECT_THAT(graph.edges(), Contains(EdgeKey{User(4), User(3)}));
  EXPECT_THAT(graph.edges(), Not(Contains(EdgeKey{User(3), User(3)})));
}

TEST(Graph, AnAuthorForEveryNthIsFollowedFromTheFirstUserOn) {
  Graph graph = GraphOf({"1 2", "3 4", "5 6", "7 8"});
  EXPECT_EQ(graph.AddAuthor(User(100), graph.Users(), 3), 3u);
  std::vector<UserId> followers;
  for (const auto& [from, to] : graph.edges()) {
    if (to == User(100)) followers.push_back(from);
  }
  EXPECT_THAT(followers, UnorderedElementsAre(User(1), User(4), User(7)));
}

TEST(Graph, WhoFollowsTheAuthorAlreadyIsCountedButNotRepeated) {
  Graph graph = GraphOf({"1 2", "3 2"});
  const size_t edges = graph.edges().size();
  EXPECT_EQ(graph.AddAuthor(User(2), graph.Users(), 1), 2u);
  EXPECT_EQ(graph.edges().size(), edges);
}

TEST(Graph, TwoAddedAuthorsDoNotFollowEachOther) {
  Graph graph = GraphOf({"1 2"});
  const auto users = graph.Users();
  (void)graph.AddAuthor(User(100), users, 1);
  (void)graph.AddAuthor(User(200), users, 1);
  EXPECT_THAT(graph.edges(), Each(::testing::Field(&EdgeKey::src, ::testing::Lt(User(100)))));
}

}  // namespace
}  // namespace fanline::feedctl
