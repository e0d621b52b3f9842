#include "backends/redis/cluster/slot_map.h"

#include <gmock/gmock.h>

namespace fanline::redis {

bool operator==(const OpenSlot& a, const OpenSlot& b) {
  return a.slot == b.slot && a.from == b.from && a.to == b.to;
}

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const Endpoint kA{"10.0.0.1", 7001}, kB{"10.0.0.2", 7002}, kC{"10.0.0.3", 7003};

// As a node of Redis 7 says it.
constexpr const char* kNodes =
    "aaa 10.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-5460 [1280->-bbb] [6000-<-bbb]\n"
    "bbb 10.0.0.2:7002@17002,host-b master - 0 1700 2 connected 5461-10921 10923\n"
    "ccc 10.0.0.3:7003@17003 master,fail? - 1600 1700 7 disconnected 10922 10924-16383\n"
    "ddd 10.0.0.4:7004@17004 slave aaa 0 1700 1 connected\n"
    "eee :0@0 master,noaddr - 0 0 0 disconnected 5\n";

ClusterView::Master Master(const Endpoint& address, uint64_t epoch, Slot first, Slot last) {
  return {address, epoch, false, {{first, last}}};
}

SlotMap MapOf(const std::vector<ClusterView::Master>& masters) {
  SlotMap map;
  map.Add({masters, {}});
  return map;
}

Endpoint MasterOf(const SlotMap& map, Bucket bucket) {
  const Endpoint* master = map.MasterOf(bucket);
  return master == nullptr ? Endpoint{} : *master;
}

// ---- what a node says -----------------------------------------------------------------------

TEST(ClusterView, NamesTheMastersThatHoldSlots) {
  const auto view = ParseNodes(kNodes, kA);
  ASSERT_EQ(view.masters.size(), 3u);
  EXPECT_EQ(view.masters[0].address, kA);
  EXPECT_THAT(view.masters[0].slots, ElementsAre(Pair(0, 5460)));
  EXPECT_EQ(view.masters[1].address, kB) << "without the host name behind the port of the bus";
  EXPECT_THAT(view.masters[1].slots, ElementsAre(Pair(5461, 10921), Pair(10923, 10923)));
  EXPECT_EQ(view.masters[1].epoch, 2u);
  EXPECT_FALSE(view.masters[1].failing);
  EXPECT_TRUE(view.masters[2].failing) << "its slots are its own until a replica takes them over";
}

TEST(ClusterView, NamesTheSlotsThatAreBetweenTheNodeAndAnother) {
  EXPECT_THAT(ParseNodes(kNodes, kA).open,
              ElementsAre(OpenSlot{1280, kA, kB}, OpenSlot{6000, kB, kA}));
  const auto stranger =
      ParseNodes("aaa 10.0.0.1:7001@1 myself,master - 0 0 1 connected 0-99 [16->-zzz]\n", kA);
  EXPECT_THAT(stranger.open, ElementsAre(OpenSlot{16, kA, {}}));
}

TEST(ClusterView, HoldsTheNamesThatNodesAnnounce) {
  EXPECT_THAT(ParseNodes(kNodes, kA).names, ElementsAre(Pair(kB, "host-b")));
  const auto names = [](const std::string& bus) {
    return ParseNodes("aaa 10.0.0.1:7001" + bus + " slave bbb 0 1700 2 connected\n", kB).names;
  };
  for (const char* bus : {"@17001,host-a", "@17001,host-a,", "@17001,host-a,shard-id=5f,x=y"}) {
    EXPECT_THAT(names(bus), ElementsAre(Pair(kA, "host-a"))) << bus;
  }
  for (const char* bus : {"", "@17001", "@17001,", "@17001,?", "@17001,,shard-id=5f",
                          "@17001,?,shard-id=5f", "@17001,shard-id=5f"}) {
    EXPECT_THAT(names(bus), IsEmpty()) << bus;
  }
}

TEST(ClusterView, ANodeThatNobodyMetHasTheHostItWasAskedAt) {
  const auto view = ParseNodes("aaa :7001@17001 myself,master - 0 0 0 connected 0-16383\n", kA);
  ASSERT_EQ(view.masters.size(), 1u);
  EXPECT_EQ(view.masters[0].address, kA);
}

TEST(ClusterView, AnAddressMayBeOfVersion6) {
  const auto view = ParseNodes("aaa ::1:7001@1 myself,master - 0 0 0 connected 0-16383\n", kA);
  ASSERT_EQ(view.masters.size(), 1u);
  EXPECT_EQ(view.masters[0].address, (Endpoint{"::1", 7001}));
}

TEST(ClusterView, WhatIsNoLineOfItIsLeftOut) {
  for (const char* text :
       {"", "\n", "aaa", "aaa 10.0.0.1:7001@1 master - 0 0 x connected 0-9\n",
        "aaa 10.0.0.1 master - 0 0 1 connected 0-9\n",
        "aaa 10.0.0.1:7001@1 master - 0 0 1 connected 9-0 16384 [ [] [1 [1-] [x->-b] [1->-]\n"}) {
    const auto view = ParseNodes(text, kA);
    EXPECT_THAT(view.masters, IsEmpty()) << text;
    EXPECT_THAT(view.open, IsEmpty()) << text;
  }
}

TEST(Redirect, IsReadFromMovedAndAsk) {
  EXPECT_EQ(ParseRedirect("MOVED 1280 10.0.0.2:7002", kA)->to, kB);
  EXPECT_EQ(ParseRedirect("ASK 1280 10.0.0.2:7002", kA)->slot, 1280u);
  EXPECT_EQ(ParseRedirect("MOVED 1 :7003", kA)->to, (Endpoint{kA.host, 7003}));
  for (const char* text : {"MOVED", "MOVED x 10.0.0.2:7002", "MOVED 16384 10.0.0.2:7002",
                           "MOVED 1 nowhere", "TRYAGAIN 1 10.0.0.2:7002", ""}) {
    EXPECT_FALSE(ParseRedirect(text, kA)) << text;
  }
}

// ---- the map --------------------------------------------------------------------------------

TEST(SlotMap, ABucketIsServedByTheMasterOfItsSlot) {
  const SlotMap map = MapOf({Master(kA, 1, 0, 5460), Master(kB, 2, 5461, 16383)});
  EXPECT_EQ(MasterOf(map, 0), kA);
  EXPECT_EQ(MasterOf(map, 341), kA) << "slot 5456";
  EXPECT_EQ(MasterOf(map, 342), kB) << "slot 5472";
  EXPECT_EQ(MasterOf(map, 1023), kB);
  EXPECT_THAT(map.masters(), ElementsAre(kA, kB));
}

TEST(SlotMap, ASlotThatNobodyHoldsIsServedByNobody) {
  const SlotMap map = MapOf({Master(kA, 1, 0, 15), Master(kB, 2, 17, 16383)});
  EXPECT_EQ(MasterOf(map, 0), kA);
  EXPECT_EQ(map.MasterOf(1), nullptr);
  EXPECT_EQ(MasterOf(map, 2), kB);
}

TEST(SlotMap, ANodeThatIsNoClusterServesAll) {
  const SlotMap map = SlotMap::Single(kC);
  EXPECT_EQ(MasterOf(map, 0), kC);
  EXPECT_EQ(MasterOf(map, 1023), kC);
  EXPECT_THAT(map.masters(), ElementsAre(kC));
}

TEST(SlotMap, OfTwoThatClaimASlotTheLaterEpochHoldsWhoeverIsHeardFirst) {
  const ClusterView former{{Master(kA, 1, 0, 16383)}, {}};
  const ClusterView successor{{Master(kB, 8, 0, 16383)}, {}};
  for (const bool former_first : {true, false}) {
    SlotMap map;
    map.Add(former_first ? former : successor);
    map.Add(former_first ? successor : former);
    EXPECT_EQ(MasterOf(map, 500), kB);
    EXPECT_THAT(map.masters(), ElementsAre(kB));
  }
}

TEST(SlotMap, AMoveConcernsOneSlot) {
  SlotMap map = MapOf({Master(kA, 1, 0, 16383)});
  map.Move({1280, kB});
  EXPECT_EQ(MasterOf(map, 80), kB);
  EXPECT_EQ(MasterOf(map, 79), kA);
  EXPECT_EQ(MasterOf(map, 81), kA);
  map.Move({1281, kB});  // no key of ours is there
  EXPECT_EQ(MasterOf(map, 81), kA);
}

TEST(SlotMap, KeepsWhatIsOpenOfOurSlotsOnceThoughBothSidesTellOfIt) {
  SlotMap map;
  map.Add({{Master(kA, 1, 0, 99)}, {{16, kA, kB}, {17, kA, kB}}});
  map.Add({{Master(kB, 2, 100, 16383)}, {{16, kA, kB}}});
  EXPECT_THAT(map.open(), ElementsAre(OpenSlot{16, kA, kB}));
}

// ---- slots left half-way --------------------------------------------------------------------

TEST(MigrationWatch, NamesASlotOnceWhenItHasBeenOpenForTooLong) {
  MigrationWatch watch(30s);
  const OpenSlot slot{16, kA, kB}, other{32, kA, kB};
  const Time start{1h};
  EXPECT_THAT(watch.Look({slot}, start), IsEmpty());
  EXPECT_THAT(watch.Look({slot, other}, start + 29s), IsEmpty());
  EXPECT_EQ(watch.left(), 0u);
  EXPECT_THAT(watch.Look({slot, other}, start + 30s), ElementsAre(slot));
  EXPECT_THAT(watch.Look({slot, other}, start + 31s), IsEmpty());
  EXPECT_EQ(watch.left(), 1u);
  EXPECT_THAT(watch.Look({other}, start + 32s), IsEmpty());
  EXPECT_EQ(watch.left(), 0u);
  EXPECT_THAT(watch.Look({slot}, start + 33s), IsEmpty()) << "another migration of the slot";
}

}  // namespace
}  // namespace fanline::redis
