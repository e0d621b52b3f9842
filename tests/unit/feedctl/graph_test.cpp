#include "feedctl/relations/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fanline::feedctl {
namespace {

using ::testing::ElementsAre;

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

}  // namespace
}  // namespace fanline::feedctl
