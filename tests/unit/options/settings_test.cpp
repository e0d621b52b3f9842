// The options by which programs find Kafka, Redis and MariaDB, and what adapters make of them.
#include <gmock/gmock.h>

#include "backends/options/bodies_settings.h"
#include "backends/options/kafka_settings.h"
#include "backends/options/mysql_settings.h"
#include "backends/options/redis_settings.h"
#include "tests/support/temporary_file.h"

namespace fanline::options {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// World: a program with all of these options.
struct World {
  KafkaSettings kafka;
  TopicSettings topics;
  RedisSettings redis;
  TimelineSettings timelines;
  MysqlSettings mysql;
  daemon::OptionTable table{"program", "for tests"};

  World() {
    AddOptions(table, kafka);
    AddOptions(table, topics);
    AddOptions(table, redis);
    AddOptions(table, timelines);
    AddOptions(table, mysql);
    AddMigrationTimeout(table, mysql);
  }
  daemon::Parsed Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "program");
    const daemon::Environment env{{"FANLINE_MYSQL_SHARDS", "tcp://m0/feed,tcp://m1:3307/feed"}};
    return table.Parse(static_cast<int>(arguments.size()), arguments.data(), env);
  }
};

TEST(Settings, DefaultsAreAccepted) {
  World world;
  EXPECT_TRUE(world.Parse({}).proceed()) << world.Parse({}).err;
}

TEST(Settings, ShardsAreRequired) {
  World world;
  const char* arguments[] = {"program"};
  const auto parsed = world.table.Parse(1, arguments, {});
  EXPECT_EQ(parsed.exit_code, 78);
  EXPECT_THAT(parsed.err, HasSubstr("--mysql-shards: is required"));
}

TEST(Settings, ReachTheAdapterOfMariaDb) {
  World world;
  ASSERT_TRUE(world.Parse({"--mysql-user", "u", "--mysql-password", "p"}).proceed());
  const mysql::Config config = ToConfig(world.mysql);
  ASSERT_EQ(config.shards.size(), 2u);
  EXPECT_EQ(config.shards[1].host, "m1");
  EXPECT_EQ(config.shards[1].port, 3307);
  EXPECT_EQ(config.user, "u");
  EXPECT_EQ(config.password.text, "p");
}

TEST(Settings, TimeoutsOfMariaDbAreRoundedUpToSeconds) {
  World world;
  ASSERT_TRUE(
      world.Parse({"--mysql-connect-timeout", "1ms", "--mysql-read-timeout", "2001ms"}).proceed());
  const mysql::Config config = ToConfig(world.mysql);
  EXPECT_EQ(config.connect_timeout, 1s);
  EXPECT_EQ(config.read_timeout, 3s);
  EXPECT_EQ(config.migration_timeout, 1h);
}

TEST(Settings, TablesAreAlteredInATimeOfTheirOwn) {
  World world;
  ASSERT_TRUE(world.Parse({"--migration-timeout", "2001ms"}).proceed());
  EXPECT_EQ(ToConfig(world.mysql).migration_timeout, 3s);
  EXPECT_EQ(ToConfig(world.mysql).read_timeout, 5s);
}

TEST(Settings, ALockIsGivenUpBeforeTheConnectionIs) {
  World world;
  for (const char* timeout : {"2s", "3s", "5s", "1m"}) {
    ASSERT_TRUE(world.Parse({"--mysql-read-timeout", timeout}).proceed());
    const mysql::Config config = ToConfig(world.mysql);
    EXPECT_GE(config.lock_wait, 1s) << timeout;
    EXPECT_LT(config.lock_wait, config.read_timeout) << timeout;
  }
}

TEST(Settings, ReachTheAdapterOfRedis) {
  World world;
  ASSERT_TRUE(world
                  .Parse({"--redis", "[::1]:7000,r2:7001", "--redis-user", "u", "--redis-password",
                          "p", "--timeline-ttl", "2h", "--redis-command-timeout", "300ms"})
                  .proceed());
  const redis::Options options =
      ToOptions(world.redis, world.timelines,
                mysql::Installation{.partitions = 4, .generation = 3, .window = {100, 512}});
  EXPECT_EQ(options.seeds, (std::vector<Endpoint>{{"::1", 7000}, {"r2", 7001}}));
  EXPECT_EQ(options.username, "u");
  EXPECT_EQ(options.password.text, "p");
  EXPECT_EQ(options.window.window, 100u);
  EXPECT_EQ(options.partitions, 4u);
  EXPECT_EQ(options.generation, 3u);
  EXPECT_EQ(options.timeline_ttl, 2h);
  EXPECT_EQ(options.command_timeout, 300ms);
}

TEST(Settings, AProgramMayDoWithoutKafkaWhenItSaysSo) {
  KafkaSettings settings{.brokers = "", .optional = true};
  daemon::OptionTable table("program", "for tests");
  AddOptions(table, settings);
  const char* arguments[] = {"program"};
  EXPECT_TRUE(table.Parse(1, arguments, {}).proceed());
}

TEST(Settings, SentinelsHaveAUserAndPasswordOfTheirOwn) {
  World world;
  ASSERT_TRUE(world
                  .Parse({"--redis", "s1:26379,s2:26379", "--redis-sentinel-master", "timelines",
                          "--redis-sentinel-user", "asker", "--redis-sentinel-password", "q",
                          "--redis-user", "u", "--redis-password", "p"})
                  .proceed());
  const redis::Options options = ToOptions(world.redis, world.timelines, {});
  EXPECT_EQ(options.sentinel_master, "timelines");
  const redis::Options asked = options.AtSentinel(options.seeds[1]);
  EXPECT_EQ(asked.address, (Endpoint{"s2", 26379}));
  EXPECT_EQ(asked.username, "asker");
  EXPECT_EQ(asked.password.text, "q");
  EXPECT_EQ(options.At({"r", 1}).password.text, "p");
}

TEST(Settings, PropertiesOfKafkaAreNameAndValue) {
  World world;
  ASSERT_TRUE(world
                  .Parse({"--kafka-brokers", "k1:1,k2:2", "--kafka-properties",
                          "security.protocol=SSL,sasl.password=a=b"})
                  .proceed());
  const kafka::ClientOptions options = ToOptions(world.kafka, "me");
  EXPECT_EQ(options.brokers, "k1:1,k2:2");
  EXPECT_EQ(options.client_id, "me");
  EXPECT_THAT(options.properties,
              UnorderedElementsAre(Pair("security.protocol", "SSL"), Pair("sasl.password", "a=b")));
}

constexpr char kCertificate[] = "-----BEGIN CERTIFICATE-----\n...\n-----END CERTIFICATE-----\n";
constexpr char kKey[] = "-----BEGIN EC PRIVATE KEY-----\n...\n-----END EC PRIVATE KEY-----\n";

TEST(Settings, PropertiesOfKafkaMayStandInAFileToo) {
  World world;
  const TemporaryFile file(
      "# of the cluster\n\nsecurity.protocol = SSL\r\nssl.key.password=a=b \n");
  ASSERT_TRUE(world
                  .Parse({"--kafka-properties-file", file.path(), "--kafka-properties",
                          "security.protocol=SASL_SSL"})
                  .proceed());
  EXPECT_THAT(
      ToOptions(world.kafka, "me").properties,
      UnorderedElementsAre(Pair("security.protocol", "SASL_SSL"), Pair("ssl.key.password", "a=b")));
}

TEST(Settings, AUserOfKafkaIsShownWhereBrokersAsk) {
  World world;
  const TemporaryFile file("s3cret\n");
  ASSERT_TRUE(world
                  .Parse({"--kafka-user", "fanline", "--kafka-password-file", file.path(),
                          "--kafka-properties", "security.protocol=sasl_ssl"})
                  .proceed());
  const kafka::ClientOptions options = ToOptions(world.kafka, "me");
  EXPECT_EQ(options.user, "fanline");
  EXPECT_EQ(options.password.file, file.path());
}

TEST(Settings, TlsTakesAnAuthorityAndMaybeACertificateWithItsKey) {
  World world;
  const TemporaryFile file(kCertificate);
  const TemporaryFile key(kKey);
  ASSERT_TRUE(world
                  .Parse({"--mysql-tls-ca", file.path(), "--mysql-tls-cert", file.path(),
                          "--mysql-tls-key", key.path()})
                  .proceed());
  const TlsFiles tls = ToConfig(world.mysql).tls;
  EXPECT_TRUE(tls.on());
  EXPECT_EQ(tls.certificate, file.path());
  EXPECT_EQ(tls.key, key.path());
  EXPECT_FALSE(MysqlSettings().tls.on());
}

TEST(Settings, TlsToRedisIsToldLikewise) {
  World world;
  const TemporaryFile file(kCertificate);
  ASSERT_TRUE(world.Parse({"--redis-tls-ca", file.path()}).proceed());
  EXPECT_EQ(ToOptions(world.redis, {}, {}).tls.authority, file.path());
}

TEST(Settings, AKeyPrefixIsOfLettersDigitsAndSomeSigns) {
  World world;
  ASSERT_TRUE(world.Parse({"--redis-key-prefix", "blue_1.2-x:"}).proceed());
  EXPECT_EQ(ToOptions(world.redis, {}, {}).key_prefix, "blue_1.2-x:");
}

TEST(Settings, WhatIsWrongIsRefusedAndNoSecretShown) {
  const TemporaryFile lines("security.protocol=SSL\ns3cret\n"), pem(kCertificate), other("s3cret");
  const std::string long_prefix(redis::kMostOfPrefix + 1, 'b');
  const std::pair<std::vector<const char*>, std::string> table[] = {
      {{"--mysql-shards", "m0"}, "tcp://host:port/database"},
      {{"--kafka-brokers", ""}, "--kafka-brokers: is empty"},
      {{"--kafka-properties", "s3cret"}, "name=value"},
      {{"--kafka-properties-file", lines.path()},
       std::string(lines.path()) + ": line 2 is not name=value"},
      {{"--kafka-user", "u", "--kafka-password", "s3cret"}, "without security.protocol=SASL_SSL"},
      {{"--kafka-user", "u", "--kafka-password", "s3cret", "--kafka-properties",
        "security.protocol=SSL"},
       "without security.protocol=SASL_SSL"},
      {{"--kafka-user", "u"}, "--kafka-user: has no password"},
      {{"--kafka-password", "s3cret"}, "--kafka-password: whose?"},
      {{"--kafka-user", "u", "--kafka-password", "s3cret", "--kafka-properties",
        "security.protocol=SASL_SSL,sasl.username=v"},
       "leave them out there"},
      {{"--redis-user", "fanline"}, "--redis-user: has no password"},
      {{"--redis-sentinel-password", "s3cret"}, "--redis-sentinel-master"},
      {{"--redis-sentinel-master", "timelines", "--redis-sentinel-user", "u"},
       "--redis-sentinel-user: has no password"},
      {{"--redis-key-prefix", "b{lue"}, "prefix: \"b{lue\" is not at most 32 letters"},
      {{"--redis-key-prefix", "b*"}, "prefix: \"b*\" is not at most 32 letters"},
      {{"--redis-key-prefix", "b l"}, "prefix: \"b l\" is not at most 32 letters"},
      {{"--redis-key-prefix", long_prefix.c_str()}, "is not at most 32 letters"},
      {{"--mysql-tls-cert", pem.path(), "--mysql-tls-key", pem.path()},
       "TLS is off; set --mysql-tls-ca, too"},
      {{"--mysql-tls-ca", pem.path(), "--mysql-tls-cert", pem.path()},
       "--mysql-tls-cert: needs --mysql-tls-key"},
      {{"--mysql-tls-ca", "/nowhere/ca"}, "--mysql-tls-ca: /nowhere/ca: cannot be read"},
      {{"--mysql-tls-ca", pem.path(), "--mysql-tls-cert", pem.path(), "--mysql-tls-key",
        pem.path()},
       "is not PEM: it has no line that ends with PRIVATE KEY-----"},
      {{"--redis-tls-ca", other.path()},
       std::string("--redis-tls-ca: ") + other.path() +
           ": is not PEM: it has no line that ends with CERTIFICATE-----"},
  };
  for (const auto& [arguments, reason] : table) {
    const daemon::Parsed parsed = World().Parse(arguments);
    EXPECT_EQ(parsed.exit_code, 78) << reason;
    EXPECT_THAT(parsed.err, HasSubstr(reason));
    EXPECT_THAT(parsed.err, Not(HasSubstr("s3cret")));
  }
}

// World: a program that shows bodies.
struct BodiesWorld {
  BodiesSettings bodies;
  daemon::OptionTable table{"program", "for tests"};

  BodiesWorld() { AddOptions(table, bodies); }
  daemon::Parsed Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "program");
    return table.Parse(static_cast<int>(arguments.size()), arguments.data(), {});
  }
};

TEST(Settings, BodiesAreOneTableOfOneServer) {
  BodiesWorld world;
  ASSERT_TRUE(world
                  .Parse({"--bodies-mysql", "tcp://m/app", "--bodies-mysql-user", "u",
                          "--bodies-mysql-password", "p", "--bodies-table", "posts",
                          "--bodies-columns", "text,lang", "--bodies-time-limit", "1500ms"})
                  .proceed());
  const auto config = ToConfig(world.bodies);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->server.shards, (std::vector<mysql::ShardAddress>{{"m", 3306, "app"}}));
  EXPECT_EQ(config->server.user, "u");
  EXPECT_EQ(config->server.password.text, "p");
  EXPECT_EQ(config->server.resource, "bodies");
  EXPECT_FALSE(config->server.holds_ours) << "any version will do";
  EXPECT_EQ(config->id_column, "id");
  EXPECT_EQ(config->columns, (std::vector<std::string>{"text", "lang"}));
  EXPECT_EQ(config->time_limit, 1500ms);
  EXPECT_EQ(config->server.read_timeout, 3s) << "the server ends a statement before";
}

TEST(Settings, BodiesMayBeLeftOut) {
  BodiesWorld world;
  ASSERT_TRUE(world.Parse({}).proceed());
  EXPECT_FALSE(ToConfig(world.bodies));
}

TEST(Settings, BodiesThatAreNotNamedAsTheyMustAreRefused) {
  const char* server = "--bodies-mysql=tcp://m/app";
  const std::pair<std::vector<const char*>, const char*> table[] = {
      {{server}, "--bodies-table: a name is letters"},
      {{server, "--bodies-table", "posts` --"}, "--bodies-table: "},
      {{server, "--bodies-table", "posts"}, "--bodies-columns: name what"},
      {{server, "--bodies-table", "posts", "--bodies-columns", "text,1+1"},
       "--bodies-columns: a name is"},
      {{server, "--bodies-table", "posts", "--bodies-columns", "text,text"},
       "--bodies-columns: text is given twice"},
      {{server, "--bodies-table", "posts", "--bodies-columns", "text", "--bodies-id-column", "a.b"},
       "--bodies-id-column: "},
      {{"--bodies-mysql", "m/app,n/app"}, "one server"},
      {{"--bodies-columns", "text"}, "--bodies-mysql: names no"}};
  for (const auto& [arguments, reason] : table) {
    EXPECT_THAT(BodiesWorld().Parse(arguments).err, HasSubstr(reason));
  }
}

TEST(Settings, SecretsAreNotShown) {
  World world;
  const auto parsed =
      world.Parse({"--check-config", "--mysql-password", "s3cret", "--redis-password", "s3cret",
                   "--kafka-properties", "sasl.password=s3cret"});
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_THAT(parsed.out, Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace fanline::options
