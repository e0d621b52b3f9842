// The installation row on real shards.
#include "backends/mysql/installation/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/integration/mysql/demotable_primary.h"
#include "tests/integration/mysql/shards.h"

namespace fanline::mysql {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class InstallationTest : public ::testing::Test {
 protected:
  InstallationTest() {
    installation_.partitions = 32;
    installation_.shard_map = shards_.map();
    installation_.generation = 7;
    installation_.feed_topic = "it's-a-topic";
    installation_.tasks_topic = "tasks";
    installation_.window = {100, 200};
    installation_.following_limit = 7'000;
    installation_.own_posts = true;
  }

  // As a shard that has not had this migration.
  void Forget(Shard shard, uint32_t number) {
    shards_.on(shard).Execute("DELETE FROM migration WHERE number = " + std::to_string(number));
  }

  void Create() {
    const Status status = CreateInstallation(shards_.config(), installation_);
    ASSERT_TRUE(status.done()) << status.message;
  }

  // Whoever makes anything on a shard makes its procedures.
  void DropProcedures() {
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      shards_.on(shard).Execute("DROP PROCEDURE IF EXISTS change_edge");
    }
  }
  int64_t CountProcedures(Shard shard) {
    return shards_.Number(shard,
                          "SELECT COUNT(*) FROM information_schema.routines"
                          " WHERE routine_schema = DATABASE() AND routine_name = 'change_edge'");
  }
  void ExpectNothingMade() {
    for (Shard shard = 0; shard < shards_.count(); ++shard) EXPECT_EQ(CountProcedures(shard), 0);
  }

  // What feedctl migrate and its dry run come to.
  void ExpectNotMigrated(const Config& config, const std::string& shard, const std::string& why) {
    DropProcedures();
    std::vector<MissingMigrations> missing;
    for (const Status& status : {ReadMissing(config, &missing, later_), Migrate(config, later_)}) {
      EXPECT_TRUE(status.never());
      EXPECT_THAT(status.message, AllOf(HasSubstr(shard), HasSubstr(why)));
    }
    ExpectNothingMade();
  }

  std::vector<size_t> CountMissing() {
    std::vector<MissingMigrations> missing;
    EXPECT_TRUE(ReadMissing(shards_.config(), &missing, later_).done());
    std::vector<size_t> counts;
    for (const auto& of_shard : missing) counts.push_back(of_shard.size());
    return counts;
  }

  Shards shards_;
  Installation installation_;
  // Of a later version.
  const Migrations later_ =
      MigrationsOf({{"0001_later_table.sql", "CREATE TABLE IF NOT EXISTS later_table (id INT)"},
                    {"0002_later_column.sql",
                     "ALTER TABLE follower ADD COLUMN one INT NOT NULL DEFAULT 1;"
                     "ALTER TABLE follower ADD COLUMN two INT AFTER one"}});
};

TEST(OurMigrations, AreNumberedFromTheBaseOnAndMayBeMadeTwice) {
  EXPECT_EQ(OurMigrations().front().file, "shard.sql");
  uint32_t number = 0;
  for (const Migration& migration : OurMigrations()) {
    EXPECT_EQ(migration.number, number++);
    for (const std::string& statement : migration.statements) {
      EXPECT_THAT(statement,
                  ::testing::ContainsRegex("^(CREATE TABLE IF NOT EXISTS|ALTER TABLE [a-z_]+ ADD "
                                           "COLUMN|INSERT IGNORE INTO migration) "));
      EXPECT_THAT(statement, Not(HasSubstr(", ADD")));  // one that is there hides what follows
    }
    EXPECT_THAT(migration.statements.back(), HasSubstr(std::string(migration.file)));
  }
}

TEST_F(InstallationTest, EachShardIsGivenTheMigrationsItHasNotHad) {
  Create();
  EXPECT_THAT(CountMissing(), ::testing::ElementsAre(2, 2));
  ASSERT_TRUE(Migrate(shards_.config(), later_).done());
  EXPECT_THAT(CountMissing(), ::testing::ElementsAre(0, 0));
  EXPECT_EQ(shards_.Number(1, "SELECT COUNT(*) FROM later_table"), 0);
  Forget(1, 1);
  shards_.on(1).Execute("DROP TABLE later_table");
  std::vector<MissingMigrations> missing;
  ASSERT_TRUE(ReadMissing(shards_.config(), &missing, later_).done());
  ASSERT_EQ(missing[1].size(), 1u);
  EXPECT_EQ(missing[1].front()->number, 1u);
  EXPECT_TRUE(missing[0].empty());
  shards_.on(0).Execute("DROP TABLE migration");
  EXPECT_THAT(CountMissing(), ::testing::ElementsAre(3, 1));
  ASSERT_TRUE(Migrate(shards_.config(), later_).done());
  EXPECT_THAT(CountMissing(), ::testing::ElementsAre(0, 0));
  EXPECT_EQ(shards_.Number(1, "SELECT COUNT(*) FROM later_table"), 0);
  EXPECT_EQ(shards_.Number(0, "SELECT COUNT(*) FROM migration"), 3);
}

TEST_F(InstallationTest, RunsBesideEachOtherMakeEachProcedureOnce) {
  Create();
  for (int round = 0; round < 10; ++round) {
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      for (const char* name : {"change_edge", "follow_new_edge"}) {
        shards_.on(shard).Execute(std::string("ALTER PROCEDURE ") + name + " COMMENT 'older'");
      }
    }
    std::vector<std::thread> runs;
    for (int i = 0; i < 3; ++i) {
      runs.emplace_back([&] {
        const Status status = Migrate(shards_.config());
        EXPECT_TRUE(status.done()) << status.message;
      });
    }
    for (std::thread& run : runs) run.join();
    EXPECT_EQ(
        shards_.Total("SELECT COUNT(*) FROM information_schema.routines"
                      " WHERE routine_schema = DATABASE() AND routine_comment LIKE 'crc32 %'"),
        4);
  }
}

TEST_F(InstallationTest, WhoMayOnlyDropProceduresLeavesThem) {
  Create();
  const Config as_admin = AsAdmin(shards_.config());
  for (Shard shard = 0; shard < shards_.count(); ++shard) {
    Connection admin(as_admin, shard);
    admin.Open();
    MakeUser(admin, "half", as_admin.password.text);
    admin.Execute("GRANT SELECT, INSERT, EXECUTE, ALTER ROUTINE ON " +
                  as_admin.shards[shard].database + ".* TO half@127.0.0.1");
    shards_.on(shard).Execute("ALTER PROCEDURE change_edge COMMENT 'older'");
  }
  Config half = shards_.config();
  half.user = "half";
  EXPECT_FALSE(Migrate(half).done());
  for (Shard shard = 0; shard < shards_.count(); ++shard) EXPECT_EQ(CountProcedures(shard), 1);
  EXPECT_TRUE(Migrate(shards_.config()).done());
  for (Shard shard = 0; shard < shards_.count(); ++shard) {
    Connection admin(as_admin, shard);
    admin.Open();
    admin.Execute("DROP USER half@127.0.0.1");
  }
}

// One that was interrupted has made part of a file, and not written its number down.
TEST_F(InstallationTest, AMigrationThatIsMadeOnceMoreChangesNothing) {
  Create();
  shards_.PutFollower(UserId{1}, UserId{2});
  ASSERT_TRUE(Migrate(shards_.config(), later_).done());
  for (const Shard shard : {0, 1}) shards_.on(shard).Execute("DELETE FROM migration");
  ASSERT_TRUE(Migrate(shards_.config(), later_).done());
  EXPECT_THAT(CountMissing(), ::testing::ElementsAre(0, 0));
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM follower WHERE one = 1"), 1);
}

TEST_F(InstallationTest, AMigrationThatFailedIsStillMissing) {
  Create();
  Migrations broken = later_;
  broken[2].statements[1] = "ALTER TABLE follower ADD COLUMN two INT AFTER three";
  EXPECT_FALSE(Migrate(shards_.config(), broken).done());
  EXPECT_THAT(CountMissing(), ::testing::ElementsAre(1, 2)) << "shard 1 was not begun";
  ASSERT_TRUE(Migrate(shards_.config(), later_).done());
  EXPECT_THAT(CountMissing(), ::testing::ElementsAre(0, 0));
}

TEST_F(InstallationTest, AShardWithoutARowIsNotMigratedAndIsToldOfInit) {
  ExpectNotMigrated(shards_.config(), "shard 0 at", "run feedctl init");
  Create();
  shards_.on(1).Execute("DELETE FROM installation");
  ExpectNotMigrated(shards_.config(), "shard 1 at", "run feedctl init");
  shards_.on(1).Execute("DROP TABLE installation");
  ExpectNotMigrated(shards_.config(), "shard 1 at", "run feedctl init");
  shards_.on(1).Execute("DELETE FROM migration");
  EXPECT_TRUE(MakeTables(shards_.config()).done()) << "who creates the row needs the tables first";
}

// The server drops a procedure before it makes it anew, and every change fails in between.
TEST_F(InstallationTest, AProcedureIsMadeOnlyWhereItDiffers) {
  Create();
  const auto made = [&](const std::string& text) {
    return shards_.Number(
        1,
        "SELECT COUNT(*) FROM information_schema.routines WHERE"
        " routine_schema = DATABASE() AND routine_name LIKE '%_edge' AND sql_data_access = '" +
            text + "'");
  };
  // So that who makes it anew is seen.
  shards_.on(1).Execute("ALTER PROCEDURE change_edge READS SQL DATA");
  ASSERT_TRUE(Migrate(shards_.config()).done());
  ASSERT_TRUE(MakeTables(shards_.config()).done());
  EXPECT_EQ(made("READS SQL DATA"), 1);
  EXPECT_EQ(made("MODIFIES SQL DATA"), 1);

  MakeProcedure(shards_.on(1), "follow_new_edge", "() SELECT 1");
  shards_.on(1).Execute("ALTER PROCEDURE change_edge COMMENT 'of another version'");
  EXPECT_THAT(FindOtherProcedures(shards_.on(1)),
              ::testing::ElementsAre("change_edge", "follow_new_edge"));
  ASSERT_TRUE(Migrate(shards_.config()).done());
  EXPECT_EQ(made("MODIFIES SQL DATA"), 2);
  EXPECT_THAT(FindOtherProcedures(shards_.on(1)), ::testing::IsEmpty());
}

// The shards left out would keep the old tables and procedures.
TEST_F(InstallationTest, PartOfTheShardsIsNotMigrated) {
  Create();
  Config one = shards_.config();
  one.shards.resize(1);
  ExpectNotMigrated(one, "shard 0 at", "shard_count is 2, this program was given 1 shards");
  EXPECT_TRUE(MakeTables(one).never());
  ExpectNothingMade();
  Config more = shards_.config();
  more.shards.push_back(more.shards[1]);
  ExpectNotMigrated(more, "shard 0 at", "shard_count is 2, this program was given 3 shards");
}

TEST_F(InstallationTest, ShardsInAnotherOrderAreNotMigrated) {
  Create();
  Config turned = shards_.config();
  std::swap(turned.shards[0], turned.shards[1]);
  ExpectNotMigrated(turned, "shard 0 at", "shard_index is 1");
  EXPECT_TRUE(MakeTables(turned).never());
  ExpectNothingMade();
}

TEST_F(InstallationTest, WhatANewerVersionMadeIsNotReplaced) {
  Create();
  shards_.on(1).Execute("INSERT INTO migration (number, file) VALUES (4321, '4321_later.sql')");
  ExpectNotMigrated(shards_.config(), "shard 1 at", "it has had migration 4321");
  // Who goes back to the version before runs its init, too: the tables hold what that needs.
  ASSERT_TRUE(MakeTables(shards_.config()).done());
  EXPECT_EQ(CountProcedures(0), 1);
  EXPECT_EQ(CountProcedures(1), 0) << "which stands for one that differs";

  shards_.on(1).Execute("UPDATE installation SET schema_version = " +
                        std::to_string(kSchemaVersion + 1));
  ExpectNotMigrated(shards_.config(), "shard 1 at", "a newer version made it");
  EXPECT_THAT(MakeTables(shards_.config()).message, Not(HasSubstr("empty databases")));
  ExpectNothingMade();
}

// Time for a large table; its users are not held up meanwhile.
TEST_F(InstallationTest, AMigrationIsNotCutOffByTheTimeOfOtherStatements) {
  Create();
  shards_.on(0).Execute("LOCK TABLES follower READ");
  Config config = shards_.config();
  config.read_timeout = std::chrono::seconds(2);
  config.lock_wait = std::chrono::seconds(4);
  const Status status = Migrate(config, later_);
  EXPECT_THAT(status.message, HasSubstr("error 1205")) << "the server has given up, not the client";
  EXPECT_THAT(status.message, HasSubstr("--migration-timeout"));
  shards_.on(0).Execute("UNLOCK TABLES");
  EXPECT_TRUE(Migrate(config, later_).done());
}

TEST_F(InstallationTest, WhatIsMissingOfAnotherSchemaIsNotSaid) {
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  shards_.on(1).Execute("UPDATE installation SET schema_version = 2");
  std::vector<MissingMigrations> missing;
  const Status status = ReadMissing(shards_.config(), &missing);
  EXPECT_TRUE(status.never());
  EXPECT_THAT(status.message, HasSubstr("schema_version is 2"));
}

TEST_F(InstallationTest, WhatIsCreatedIsReadBackFromEveryShard) {
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  Installation found;
  const Status status = ReadInstallation(shards_.config(), &found);
  ASSERT_TRUE(status.done()) << status.message;
  EXPECT_EQ(found.partitions, 32u);
  EXPECT_EQ(found.generation, 7u);
  EXPECT_EQ(found.feed_topic, "it's-a-topic");
  EXPECT_EQ(found.tasks_topic, "tasks");
  EXPECT_EQ(found.window.window, 100u);
  EXPECT_EQ(found.window.max_entries, 200u);
  EXPECT_EQ(found.following_limit, 7'000u);
  EXPECT_TRUE(found.own_posts);
  EXPECT_EQ(found.shard_map.ToString(), shards_.map().ToString());
  EXPECT_EQ(shards_.Number(1, "SELECT shard_index FROM installation"), 1);
}

// As a program of a later version finds a table that lacks its column.
TEST_F(InstallationTest, AColumnThatIsMissingIsMadeByMigrate) {
  Create();
  for (const Shard shard : {0, 1}) {
    shards_.on(shard).Execute("ALTER TABLE installation DROP COLUMN own_posts");
  }
  Installation found;
  EXPECT_THAT(ReadInstallation(shards_.config(), &found).message, HasSubstr("feedctl migrate"));
  const Migrations with_column =
      MigrationsOf({{"0001_own_posts.sql",
                     "ALTER TABLE installation ADD COLUMN own_posts TINYINT NOT NULL DEFAULT 0"}});
  ASSERT_TRUE(Migrate(shards_.config(), with_column).done());
  ASSERT_TRUE(ReadInstallation(shards_.config(), &found).done());
  EXPECT_FALSE(found.own_posts);
}

TEST_F(InstallationTest, CreatingAgainFinishesAnInterruptedRunAndChangesNothing) {
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  shards_.on(1).Execute("DELETE FROM installation");
  EXPECT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  EXPECT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM installation"), shards_.count());
}

TEST_F(InstallationTest, AGenerationOfItsOwnIsDrawnAndKeptByARunThatFinishesAnother) {
  installation_.generation = kAnyGeneration;
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  Installation first;
  ASSERT_TRUE(ReadInstallation(shards_.config(), &first).done());
  EXPECT_GT(first.generation, 1u);
  shards_.on(0).Execute("DELETE FROM installation");
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  Installation finished;
  ASSERT_TRUE(ReadInstallation(shards_.config(), &finished).done());
  EXPECT_EQ(finished.generation, first.generation);
  for (const Shard shard : {0u, 1u}) shards_.on(shard).Execute("DELETE FROM installation");
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  Installation another;
  ASSERT_TRUE(ReadInstallation(shards_.config(), &another).done());
  EXPECT_NE(another.generation, first.generation);
}

TEST_F(InstallationTest, CreatingAnotherOneOverItIsRefusedNamingTheDifference) {
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  installation_.partitions = 64;
  const Status status = CreateInstallation(shards_.config(), installation_);
  EXPECT_TRUE(status.never());
  EXPECT_THAT(status.message, AllOf(HasSubstr("shard 0 at"), HasSubstr("partitions"),
                                    HasSubstr("\"32\""), HasSubstr("\"64\"")));
}

TEST_F(InstallationTest, ARefusedOneLeavesNoRowOnTheShardsThatHaveNone) {
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  shards_.on(0).Execute("DELETE FROM installation");
  Installation other = installation_;
  other.partitions = 64;
  EXPECT_TRUE(CreateInstallation(shards_.config(), other).never());
  EXPECT_EQ(shards_.Number(0, "SELECT COUNT(*) FROM installation"), 0);
  EXPECT_TRUE(CreateInstallation(shards_.config(), installation_).done());
}

TEST_F(InstallationTest, AnotherThanTheShardsHoldIsRefusedNamingFieldAndBothValues) {
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  const auto refused = [&](const Config& config) {
    Installation found;
    const Status status = ReadInstallation(config, &found);
    EXPECT_TRUE(status.never());
    return status.message;
  };
  Config swapped = shards_.config();
  std::swap(swapped.shards[0], swapped.shards[1]);
  EXPECT_THAT(refused(swapped), HasSubstr("shard_index"));
  Config one = shards_.config();
  one.shards.resize(1);
  EXPECT_THAT(refused(one), HasSubstr("shard_count"));
  shards_.on(1).Execute("UPDATE installation SET generation = 8");
  EXPECT_THAT(refused(shards_.config()), AllOf(HasSubstr("shard 1 at"), HasSubstr("generation"),
                                               HasSubstr("\"8\""), HasSubstr("\"7\"")));
}

TEST_F(InstallationTest, ATableThatCameSinceIsMadeByInitOnceMore) {
  Create();
  shards_.PutFollower(UserId{1}, UserId{2});
  ASSERT_TRUE(MakeTables(shards_.config(), later_).done());
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  EXPECT_EQ(shards_.Number(1, "SELECT COUNT(*) FROM later_table"), 0);
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM follower"), 1);
}

// The programs of the other schema run on, and call its procedures.
TEST_F(InstallationTest, OneOfAnotherSchemaIsLeftAsItIs) {
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  const std::string old = std::to_string(kSchemaVersion - 1);
  shards_.on(1).Execute("UPDATE installation SET schema_version = " + old);
  ExpectNotMigrated(shards_.config(), "shard 1 at", "schema_version is " + old);
  EXPECT_TRUE(MakeTables(shards_.config()).never());
  ExpectNothingMade();
  Installation found;
  EXPECT_THAT(ReadInstallation(shards_.config(), &found).message,
              AllOf(HasSubstr("shard 1 at"), HasSubstr("schema_version"), HasSubstr("\"" + old)));
  shards_.on(1).Execute("DELETE FROM installation");
  EXPECT_TRUE(MakeTables(shards_.config()).done());
}

// A program that was started first looks while feedctl init is between the tables and their rows.
TEST_F(InstallationTest, AnEmptyTableSaysWhatToDoAndIsWaitedFor) {
  Installation found;
  for (const Shard row_of : {1, 0}) {
    const Status status = ReadInstallation(shards_.config(), &found);
    EXPECT_TRUE(status.later());
    EXPECT_EQ(status.cause, Cause::kSetting);
    EXPECT_THAT(status.message, HasSubstr("run feedctl init"));
    ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
    shards_.on(row_of).Execute("DELETE FROM installation");
  }
}

TEST_F(InstallationTest, AShardOutOfReachIsLaterNotAMismatch) {
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  Config config = shards_.config();
  config.shards[1].port = 1;
  const Status status = ReadInstallation(config, &installation_);
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "mysql_1");
}

TEST_F(InstallationTest, ARowThatChangesUnderAProgramIsNoticedOnAnyShard) {
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  ShardConnections connections(shards_.config());
  EXPECT_TRUE(CheckUnchanged(connections, installation_).done());
  for (const Shard shard : {0, 1}) {
    for (const auto& [field, was] : {std::pair{"generation", "7"}, std::pair{"partitions", "32"},
                                     std::pair{"following_limit", "7000"}}) {
      shards_.on(shard).Execute(std::string("UPDATE installation SET ") + field + " = 16");
      const Status status = CheckUnchanged(connections, installation_);
      EXPECT_TRUE(status.never());
      EXPECT_THAT(status.message,
                  AllOf(HasSubstr(shards_.config().PlaceOf(shard) + ": " + field + " is \"16\""),
                        HasSubstr(std::string("expected \"") + was), HasSubstr("stop all programs"),
                        HasSubstr("UPDATE installation")));
      shards_.on(shard).Execute(std::string("UPDATE installation SET ") + field + " = " + was);
      EXPECT_TRUE(CheckUnchanged(connections, installation_).done());
    }
  }
  shards_.on(1).Execute("DELETE FROM installation");
  EXPECT_TRUE(CheckUnchanged(connections, installation_).never());
}

TEST_F(InstallationTest, AShardThatIsAwayWhileAProgramRunsIsNoMismatchAndHidesNone) {
  ASSERT_TRUE(CreateInstallation(shards_.config(), installation_).done());
  Config config = shards_.config();
  config.shards[0].port = 1;
  ShardConnections connections(config);
  EXPECT_TRUE(CheckUnchanged(connections, installation_).done());
  shards_.on(1).Execute("UPDATE installation SET generation = 8");
  EXPECT_TRUE(CheckUnchanged(connections, installation_).never());
}

}  // namespace
}  // namespace fanline::mysql
