// A planned switch leaves the old primary up, read-only, and connections open to it. Nothing is
// acknowledged over one, neither a change nor that it was so already: its rows stand still.
#include <gtest/gtest.h>

#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/installation/installation.h"
#include "backends/mysql/repairs/repair_store.h"
#include "tests/integration/mysql/blocking_edges.h"
#include "tests/integration/mysql/demotable_primary.h"
#include "tests/integration/mysql/friendships.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/replies.h"

namespace fanline::mysql {
namespace {

// Shard 1 is demoted while connections are open and were asked a moment ago: a connection is asked
// when it is used for the second time, and then once in an hour.
class DemotedRelations : public ::testing::Test {
 protected:
  DemotedRelations() { config_.primary_check = std::chrono::hours(1); }

  void SetReadOnly(const std::string& value) { primary_.SetReadOnly(value); }

  void MakeProceduresAs(const Config& config) {
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      for (const char* each : {"change_edge", "follow_new_edge"}) {
        shards_.on(shard).Execute(std::string("DROP PROCEDURE IF EXISTS ") + each);
      }
    }
    const Status made = MakeTables(config);
    ASSERT_TRUE(made.done()) << made.message;
  }

  // The error code of a change over a connection that was open before; 0: it was taken.
  int CodeOf(const EdgeChange& change) {
    Connection connection(config_, 1);
    connection.Open();
    SetReadOnly("ON");
    int code = 0;
    try {
      (void)ChangeForward(connection, change);
    } catch (const MysqlError& error) {
      code = error.code();
    }
    SetReadOnly("OFF");
    return code;
  }

  static void ExpectLater(const Status& status) {
    EXPECT_TRUE(status.later()) << status.message;
    EXPECT_EQ(status.resource, "mysql_1");
  }

  RelationShards shards_;
  Config config_ = shards_.config();
  DemotablePrimary primary_{shards_.config(), 1};
  ShardConnections connections_{config_};
  const UserId ann_ = shards_.UserOn(1, 1), bob_ = shards_.UserOn(1, 2);
};

// A procedure with its definer's rights would write all the same.
TEST_F(DemotedRelations, ChangesAreRefusedAlsoWhereAnAdministratorMadeTheProcedures) {
  MakeProceduresAs(primary_.config());
  const EdgeChange follow{.src = ann_, .dst = bob_, .live = true, .unix_us = kNow};
  EXPECT_EQ(CodeOf(follow), 1290);
  EXPECT_EQ(shards_.Forward(ann_, bob_), "-");

  (void)ChangeForward(shards_.on(1), follow);
  EdgeChange change = follow;
  change.live = false;
  EXPECT_EQ(CodeOf(change), 1290);
  change.live = true;  // by change_edge: it is so already
  EXPECT_EQ(CodeOf(change), 1290);
  EXPECT_EQ(shards_.Forward(ann_, bob_), "1700000000000000 1 1700000000000");
  EXPECT_EQ(shards_.PendingChanges(), 1);
}

// docs/security.md names these rights.
TEST_F(DemotedRelations, AnAccountThatMakesNothingCallsWhatAnotherMadeThatIsGone) {
  const auto account = [&](const std::string& name, const std::string& rights) {
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      Connection admin(primary_.config(), shard);
      admin.Open();
      MakeUser(admin, name, config_.password.text);
      admin.Execute("GRANT " + rights + " ON " + config_.shards[shard].database + ".* TO " + name +
                    "@127.0.0.1");
    }
    Config config = config_;
    config.user = name;
    return config;
  };
  const std::string data = "SELECT, INSERT, UPDATE, DELETE, EXECUTE";
  const Config caller = account("caller", data);
  const Config maker =
      account("maker", data + ", CREATE, ALTER, INDEX, CREATE ROUTINE, ALTER ROUTINE");
  for (const Shard shard : {0, 1}) shards_.on(shard).Execute("DELETE FROM migration");
  MakeProceduresAs(maker);
  primary_.admin().Execute("DROP USER maker@127.0.0.1");

  Connection connection(caller, 1);
  connection.Open();
  const auto change = [&](bool live) {
    return ChangeForward(connection, {ann_, bob_, live, kNow}).changed;
  };
  EXPECT_TRUE(change(true));
  EXPECT_TRUE(change(false));
  EXPECT_FALSE(change(false));
  primary_.admin().Execute("DROP USER caller@127.0.0.1");
}

// Nothing is written then, but it is read under locks.
TEST_F(DemotedRelations, NobodyIsToldThatAnEdgeIsSoAlready) {
  MakeProceduresAs(primary_.config());
  ForwardEdges forward(connections_, shards_.map());
  const EdgeChange unfollow{.src = ann_, .dst = bob_, .live = false, .unix_us = kNow};
  ForwardChanged changed;
  for (int use = 0; use < 2; ++use) ASSERT_TRUE(forward.Change(unfollow, &changed).done());
  SetReadOnly("ON");
  ExpectLater(forward.Change(unfollow, &changed));
}

TEST_F(DemotedRelations, NobodyIsToldThatAFriendshipIsSoAlready) {
  Friendships friendships(config_, shards_.map());
  FriendshipStep step;
  ASSERT_TRUE(friendships.Change(FriendAction::kRequest, ann_, bob_, kNow, &step).done());
  ASSERT_TRUE(friendships.Change(FriendAction::kCancel, ann_, bob_, kNow + 1, &step).done());
  SetReadOnly("ON");
  ExpectLater(friendships.Change(FriendAction::kCancel, ann_, bob_, kNow + 2, &step));
}

TEST_F(DemotedRelations, NobodyIsToldThatAFriendshipForbidsIt) {
  Friendships friendships(config_, shards_.map());
  FriendshipStep step;
  const auto accept = [&] {
    return friendships.Change(FriendAction::kAccept, ann_, bob_, kNow, &step);
  };
  for (int use = 0; use < 2; ++use) ASSERT_TRUE(accept().never());
  SetReadOnly("ON");
  ExpectLater(accept());
}

TEST_F(DemotedRelations, RowsOfAnApplicationAreNotJudged) {
  MysqlRepairStore store(config_, shards_.map(), kNoLog, 1,
                         AppTables{{config_, "following"}, {config_, "follower"}});
  const auto read = [&] { return Ask(store, ReadEdges{0, {{ann_, bob_}}}).status; };
  for (int use = 0; use < 2; ++use) ASSERT_TRUE(read().done());
  SetReadOnly("ON");
  ExpectLater(read());
}

}  // namespace
}  // namespace fanline::mysql
