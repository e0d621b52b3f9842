#include "feedctl/relations/graph.h"

#include <gmock/gmock.h>

namespace fanline::feedctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FileEdge LineOf(std::string_view line, uint64_t id_offset = 0) {
  const auto parsed = ParseEdgeLine(line, id_offset);
  const auto* edge = std::get_if<FileEdge>(&parsed);
  EXPECT_NE(edge, nullptr) << line;
  return edge != nullptr ? *edge : FileEdge{};
}

EdgeKey EdgeOf(std::string_view line, uint64_t id_offset = 0) {
  return LineOf(line, id_offset).key;
}

std::string ReasonOf(std::string_view line, uint64_t id_offset = 0) {
  const auto parsed = ParseEdgeLine(line, id_offset);
  const auto* bad = std::get_if<BadEdge>(&parsed);
  EXPECT_NE(bad, nullptr) << line;
  return bad != nullptr ? bad->reason : "";
}

TEST(EdgeLine, IsWhoFollowsAndWhom) {
  for (const char* line : {"1 2", "1\t2", "  1 \t 2  ", "1 2\r"}) {
    EXPECT_EQ(EdgeOf(line), (EdgeKey{UserId{1}, UserId{2}})) << line;
  }
}

TEST(EdgeLine, OfACommentOrOfNothingIsNoEdge) {
  for (const char* line : {"", "   ", "\t\r", "# 1 2", "  # FromNodeId ToNodeId", "#"}) {
    EXPECT_TRUE(std::holds_alternative<NoEdge>(ParseEdgeLine(line, 0))) << '"' << line << '"';
  }
}

TEST(EdgeLine, IdsAreShiftedByTheOffset) {
  EXPECT_EQ(EdgeOf("0 75887", 1), (EdgeKey{UserId{1}, UserId{75888}}));
  EXPECT_EQ(EdgeOf("1 2", UINT64_MAX - 3),
            (EdgeKey{UserId{UINT64_MAX - 2}, UserId{UINT64_MAX - 1}}));
}

TEST(EdgeLine, NoIdIsOutsideTheirRangeEvenWhenShifted) {
  EXPECT_EQ(EdgeOf("1 18446744073709551614"), (EdgeKey{UserId{1}, UserId{UINT64_MAX - 1}}));
  EXPECT_EQ(ReasonOf("5 0"), "\"0\" is no user id: ids begin at 1; pass --id-offset 1");
  EXPECT_THAT(ReasonOf("1 18446744073709551615"), HasSubstr("\"18446744073709551615\""));
  EXPECT_THAT(ReasonOf("1 18446744073709551616"), HasSubstr("is no user id"));
  EXPECT_THAT(ReasonOf("18446744073709551615 1", 2), HasSubstr("--id-offset is added"));
  EXPECT_THAT(ReasonOf("18446744073709551614 1", 1), HasSubstr("--id-offset is added"));
}

TEST(EdgeLine, WhatIsNoIdIsQuoted) {
  EXPECT_THAT(ReasonOf("1 two"), HasSubstr("\"two\" is no user id"));
  EXPECT_THAT(ReasonOf("-1 2"), HasSubstr("\"-1\""));
  EXPECT_THAT(ReasonOf("1.5 2"), HasSubstr("\"1.5\""));
  EXPECT_THAT(ReasonOf("1,2 3"), HasSubstr("\"1,2\""));
  EXPECT_THAT(ReasonOf("\x01 2"), HasSubstr("\"?\""));
}

TEST(EdgeLine, HasTwoIdsAndPerhapsADelivery) {
  const EdgeKey edge{UserId{1}, UserId{2}};
  EXPECT_EQ(LineOf("1 2"), (FileEdge{edge, std::nullopt}));
  EXPECT_EQ(LineOf("1 2 all"), (FileEdge{edge, Delivery::kAll}));
  EXPECT_EQ(LineOf("1\t2\tno_reposts\r"), (FileEdge{edge, Delivery::kNoReposts}));
  EXPECT_EQ(LineOf("1 2 none "), (FileEdge{edge, Delivery::kNone}));
  EXPECT_THAT(ReasonOf("1"), HasSubstr("one id only"));
  EXPECT_EQ(ReasonOf("1 2 3"), "\"3\" behind two ids; there are all, no_reposts, none or nothing");
  EXPECT_THAT(ReasonOf("1 2 none 3"), HasSubstr("more than three words"));
}

Graph GraphOf(const std::vector<std::string>& lines) {
  Graph graph;
  for (const std::string& line : lines) graph.Add(LineOf(line));
  return graph;
}

TEST(Graph, KeepsEdgesAsGivenAndLeavesOutThoseToOneself) {
  const Graph graph = GraphOf({"1 2", "1 2", "3 3", "2 1"});
  const FileEdge edge{{UserId{1}, UserId{2}}}, back{{UserId{2}, UserId{1}}};
  EXPECT_THAT(graph.edges(), ElementsAre(edge, edge, back));
  EXPECT_EQ(graph.to_oneself(), 1u);
}

TEST(Graph, UsersAreEverybodyAtEitherEndOnce) {
  EXPECT_THAT(GraphOf({"9 2", "2 5", "7 7", "9 5"}).Users(),
              ElementsAre(UserId{2}, UserId{5}, UserId{7}, UserId{9}));
}

}  // namespace
}  // namespace fanline::feedctl
