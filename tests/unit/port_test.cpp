#include "fanline/ports/port.h"

#include <gtest/gtest.h>

#include "tests/fakes/requests.h"

namespace fanline {
namespace {

struct Add {
  using Reply = struct Added;
  uint64_t id = 0;
  int one = 0, other = 0;
};
struct Added {
  uint64_t id = 0;
  int sum = 0;
};
struct Count {
  using Reply = struct Counted;
  uint64_t id = 0;
};
struct Counted {
  uint64_t id = 0;
  int calls = 0;
};

struct Adder : ServesAll<Adder, Add, Count> {
  void Serve(const Add& request, ReplyTo<Added> to) {
    ++calls;
    to({request.id, request.one + request.other});
  }
  void Serve(const Count& request, ReplyTo<Counted> to) { to({request.id, calls}); }
  int calls = 0;
};

TEST(Port, RepliesArriveAtTheAddressOfWhoeverAsked) {
  Adder adder;
  fakes::Inbox<std::variant<Added, Counted>> ann, bob;
  const Port<Add, Count> of_ann(adder, ann), of_bob(adder, bob);
  of_ann.Submit(Add{1, 2, 3});
  of_bob.Submit(Add{1, 4, 5});
  of_bob.Submit(Count{2});
  ASSERT_EQ(ann.size(), 1u);
  EXPECT_EQ(std::get<Added>(ann[0]).sum, 5);
  ASSERT_EQ(bob.size(), 2u);
  EXPECT_EQ(std::get<Added>(bob[0]).sum, 9);
  EXPECT_EQ(std::get<Counted>(bob[1]).calls, 2);
}

TEST(Port, ATurnReachesAServerThatKeepsToIt) {
  struct InTurn : ServesAll<InTurn, Add> {
    void Serve(const Add& request, ReplyTo<Added> to, const Turn& turn) {
      to({request.id, static_cast<int>(turn.work_class)});
    }
  };
  InTurn in_turn;
  Adder adder;
  fakes::Inbox<Added> replies;
  const Port<Add> keeps_to_it(in_turn, replies), ignores_it(adder, replies);
  keeps_to_it.Submit(Add{1, 2, 3}, {.work_class = 7});
  keeps_to_it.Submit(Add{2, 2, 3});
  ignores_it.Submit(Add{3, 2, 3}, {.work_class = 7});
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0].sum, 7);
  EXPECT_EQ(replies[1].sum, 0);
  EXPECT_EQ(replies[2].sum, 5);
}

TEST(Port, TwoBehindOneStepAreToldApartByTheirParts) {
  struct AnnsReply : std::variant<Added> {
    using std::variant<Added>::variant;
  };
  struct BobsReply : std::variant<Added, Counted> {
    using std::variant<Added, Counted>::variant;
  };
  Adder adder;
  fakes::Inbox<std::variant<AnnsReply, BobsReply>> inbox;
  const Port<Add> of_ann(adder, AsPart<AnnsReply>(inbox)), of_bob(adder, AsPart<BobsReply>(inbox));
  of_bob.Submit({1, 1, 1});
  of_ann.Submit({1, 2, 2});
  ASSERT_EQ(inbox.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<BobsReply>(inbox[0]));
  EXPECT_TRUE(std::holds_alternative<AnnsReply>(inbox[1]));
}

TEST(Port, OneForMoreKindsIsOneForFewer) {
  Adder adder;
  fakes::Inbox<std::variant<Added, Counted>> inbox;
  const Port<Count> counts = Port<Add, Count>(adder, inbox);
  counts.Submit({7});
  ASSERT_EQ(inbox.size(), 1u);
  EXPECT_EQ(std::get<Counted>(inbox[0]).id, 7u);
}

TEST(Port, AnEmptyAddressDropsTheReply) {
  Adder adder;
  adder.Submit(Add{1, 2, 3}, {});
  EXPECT_EQ(adder.calls, 1);
}

}  // namespace
}  // namespace fanline
