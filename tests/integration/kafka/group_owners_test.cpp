#include "backends/kafka/admin.h"

#include <gmock/gmock.h>

#include "tests/adapters/kafka/member.h"
#include "tests/integration/kafka/real_broker.h"

namespace fanline::kafka {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class GroupOwnersTest : public test::RealBrokerTest {
 protected:
  ConsumerOptions MemberCalled(const std::string& name) const {
    ConsumerOptions options = GroupMember();
    options.client.client_id = name;
    return options;
  }
  Status Read(const std::string& of, GroupOwners* owners) const {
    owners->clear();
    Admin asker(test::RealBroker(), std::chrono::seconds(5), LogSink());
    return asker.ReadOwners(GroupMember().group, of, owners);
  }
  // A broker that has just come up, or is busy, may first say that it is asked too early.
  Status ReadInTheEnd(const std::string& of, GroupOwners* owners) const {
    Status status = Read(of, owners);
    for (int more = 0; more < 10 && status.later(); ++more) status = Read(of, owners);
    return status;
  }
};

TEST_F(GroupOwnersTest, EveryPartitionIsOfTheMemberThatWasGivenIt) {
  CreateTopic(topic, 2);
  GroupOwners owners;
  ASSERT_TRUE(ReadInTheEnd(topic, &owners).done());
  EXPECT_THAT(owners, IsEmpty()) << "nobody has joined";
  test::Member member(MemberCalled("ann"));
  ASSERT_TRUE(member.Assigned(2));
  ASSERT_TRUE(ReadInTheEnd(topic, &owners).done());
  ASSERT_THAT(owners, SizeIs(2));
  EXPECT_EQ(owners[1].client, "ann");
  EXPECT_EQ(owners[1].host, "127.0.0.1");
  ASSERT_TRUE(ReadInTheEnd("another topic", &owners).done());
  EXPECT_THAT(owners, IsEmpty());
}

TEST_F(GroupOwnersTest, WhilePartitionsChangeHandsNobodyIsNamed) {
  CreateTopic(topic, 2);
  test::Member ann(MemberCalled("ann"));
  ASSERT_TRUE(ann.Assigned(2));
  test::Member bob(MemberCalled("bob"));  // waits for Ann, who does not look
  GroupOwners owners;
  Status status;
  for (int looks = 0; looks < 100 && !status.later(); ++looks) status = Read(topic, &owners);
  EXPECT_THAT(status.message, HasSubstr("shared out anew"));
  EXPECT_THAT(owners, IsEmpty());
  EXPECT_TRUE(ann.Until([&] {  // so that both may leave at once
    bob.Turn(std::chrono::milliseconds(20));
    return !bob.events.empty();
  }));
}

TEST_F(GroupOwnersTest, BrokersThatAreAwayAreAskedAgainLater) {
  const ClientOptions nowhere{.brokers = "127.0.0.1:1"};
  Admin asker(nowhere, std::chrono::milliseconds(300), LogSink());
  GroupOwners owners;
  EXPECT_TRUE(asker.ReadOwners("any", topic, &owners).later());
}

}  // namespace
}  // namespace fanline::kafka
