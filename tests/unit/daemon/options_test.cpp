#include "daemon/options/options.h"

#include <gmock/gmock.h>

#include <chrono>
#include <optional>

#include "tests/support/temporary_file.h"

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// OptionsWorld: a program with one option of each kind, an environment and a file of the test's
// making.
struct OptionsWorld {
  std::string redis = "127.0.0.1:6379";
  std::string password;
  bool verify = true;
  int64_t window = 450;
  uint64_t author = 0;
  double sample = 0.01;
  milliseconds linger = 5ms;
  std::vector<std::string> brokers{"localhost:9092"};
  Endpoint listen{"127.0.0.1", 9100};
  std::string mode = "safe";

  OptionTable table{"fanline-test", "a program for tests"};
  Environment env;

  OptionsWorld() {
    table.Add("redis", &redis, "where the timelines live");
    table.Add("redis-password", &password, "its password").Secret();
    table.Add("verify", &verify, "whether to look twice");
    table.Add("window", &window, "items of a timeline").Range(1, 512).Unit("items");
    table.Add("author", &author, "a user");
    table.Add("sample", &sample, "share of posts").Range(0, 1);
    table.Add("linger", &linger, "how long to wait").Range(0ms, 1min);
    table.Add("kafka-brokers", &brokers, "where to bootstrap");
    table.Add("listen", &listen, "where to serve");
    table.Add("mode", &mode, "how to run").OneOf({"fast", "safe"});
  }

  Parsed Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "fanline-test");
    return table.Parse(static_cast<int>(arguments.size()), arguments.data(), env);
  }

  // The path of a file with this content.
  const char* File(const std::string& content) { return file_.emplace(content).path(); }

 private:
  std::optional<TemporaryFile> file_;
};

TEST(Options, AFlagWinsOverTheEnvironmentThatOverTheFileThatOverTheDefault) {
  const std::string content = "window = 1\nlinger = 1ms\nsample = 0.5\n";
  OptionsWorld w;
  w.env = {{"FANLINE_WINDOW", "2"}, {"FANLINE_LINGER", "2ms"}};
  EXPECT_TRUE(w.Parse({"--window", "3", "--config", w.File(content)}).proceed());
  EXPECT_EQ(w.window, 3);
  EXPECT_EQ(w.linger, 2ms);
  EXPECT_EQ(w.sample, 0.5);
  EXPECT_EQ(w.mode, "safe");
}

TEST(Options, AnEmptyVariableCountsAsNotSet) {
  OptionsWorld w;
  w.env["FANLINE_WINDOW"] = "";
  EXPECT_TRUE(w.Parse({}).proceed());
  EXPECT_EQ(w.window, 450);
}

TEST(Options, EveryTypeIsReadFromAFlag) {
  OptionsWorld w;
  const Parsed parsed =
      w.Parse({"--author", "18446744073709551614", "--linger=2s", "--kafka-brokers", "a:1,b:2",
               "--kafka-brokers=c:3", "--listen", "[::1]:80", "--mode", "fast", "--verify=false"});
  EXPECT_TRUE(parsed.proceed()) << parsed.err;
  EXPECT_EQ(w.author, 18446744073709551614u);
  EXPECT_EQ(w.linger, 2s);
  EXPECT_THAT(w.brokers, ElementsAre("a:1", "b:2", "c:3"));
  EXPECT_EQ(w.listen, (Endpoint{"::1", 80}));
  EXPECT_EQ(w.mode, "fast");
  EXPECT_FALSE(w.verify);
  EXPECT_TRUE(w.Parse({"--verify"}).proceed());
  EXPECT_TRUE(w.verify);
}

TEST(Options, AnEmptyValueIsAValueAndDoesNotTakeTheNextArgument) {
  OptionsWorld w;
  EXPECT_TRUE(w.Parse({"--redis=", "--window", "9"}).proceed());
  EXPECT_EQ(w.redis, "");
  EXPECT_EQ(w.window, 9);
}

TEST(Options, AWrongCommandLineIsAUsageErrorThatSaysWhatIsWrong) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> table = {
      {{"--redis", "--window", "9"}, "--redis: has no value (the next argument is --window)"},
      {{"--window"}, "fanline-test: --window: has no value\n"},
      {{"--verify=maybe"}, "--verify: \"maybe\" is neither true nor false"},
      {{"--window", "many"}, "--window: \"many\" is not a whole number"},
      {{"--linger", "500"}, "--linger: \"500\" is not a duration such as 500ms"},
      {{"--window", "1", "--window", "2"}, "more than one value"},
      {{"--redis-pass", "x"}, "unknown option --redis-pass"},  // the beginning of a name
      {{"now"}, "unexpected argument \"now\""},
  };
  for (const auto& [arguments, reason] : table) {
    const Parsed parsed = OptionsWorld().Parse(arguments);
    EXPECT_EQ(parsed.exit_code, kExitUsage) << reason;
    EXPECT_THAT(parsed.err, HasSubstr(reason));
  }
}

TEST(Options, ABadVariableIsAConfigurationErrorNamingTheVariable) {
  OptionsWorld w;
  w.env["FANLINE_WINDOW"] = "513";
  const Parsed parsed = w.Parse({});
  EXPECT_EQ(parsed.exit_code, kExitConfig);
  EXPECT_THAT(parsed.err, HasSubstr("FANLINE_WINDOW: \"513\" is not in 1..512"));
}

TEST(Options, ABracketedValueIsTakenAsItIs) {
  OptionsWorld w;
  EXPECT_TRUE(w.Parse({"--redis", "[a,b]"}).proceed());
  EXPECT_EQ(w.redis, "[a,b]");
}

TEST(Options, AllProblemsAreNamedAtOnceOneALine) {
  OptionsWorld w;
  w.env["FANLINE_LINGER"] = "soon";
  const std::string err = w.Parse({"--window", "x", "--mode", "y"}).err;
  EXPECT_THAT(err, HasSubstr("fanline-test: --window: "));
  EXPECT_THAT(err, HasSubstr("fanline-test: --mode: \"y\" is not one of fast|safe\n"));
  EXPECT_THAT(err, HasSubstr("fanline-test: FANLINE_LINGER: "));
}

TEST(Options, AnUnknownFlagIsRefused) {
  OptionsWorld w;
  const Parsed parsed = w.Parse({"--windwo", "5"});
  EXPECT_EQ(parsed.exit_code, kExitUsage);
  EXPECT_THAT(parsed.err, HasSubstr("unknown option --windwo\n"));
  EXPECT_THAT(parsed.err, Not(HasSubstr("\"5\"")));
}

TEST(Options, BehindTwoDashesThereAreOnlyArguments) {
  OptionsWorld w;
  std::string post;
  w.table.AddPositional("post", &post, "its id");
  EXPECT_TRUE(w.Parse({"--window", "9", "--", "--verify"}).proceed());
  EXPECT_EQ(post, "--verify");
  EXPECT_TRUE(w.Parse({"-5"}).proceed());
  EXPECT_EQ(post, "-5");
}

TEST(Options, AnUnknownVariableIsOnlyAWarningOfCheckConfig) {
  OptionsWorld w;
  w.env = {{"FANLINE_PUSHER_LANES", "4"}, {"FANLINE_LITEN", "a:1"}, {"HOME", "/root"}};
  EXPECT_TRUE(w.Parse({}).proceed());
  const Parsed parsed = w.Parse({"--check-config"});
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_THAT(parsed.out, HasSubstr("warning: FANLINE_PUSHER_LANES is set, and is no option"));
  EXPECT_THAT(parsed.out, Not(HasSubstr("HOME")));
}

TEST(Options, CheckConfigShowsEveryValueAndItsSource) {
  OptionsWorld w;
  w.env["FANLINE_LINGER"] = "59s";
  const Parsed parsed = w.Parse({"--check-config", "--window=9"});
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_THAT(parsed.out, HasSubstr("window         = 9               (command line)\n"));
  EXPECT_THAT(parsed.out, HasSubstr("linger         = 59s             (FANLINE_LINGER)\n"));
  EXPECT_THAT(parsed.out, HasSubstr("mode           = safe            (default)\n"));
}

TEST(Options, CheckConfigNeverShowsASecret) {
  OptionsWorld w;
  w.env = {{"FANLINE_REDIS_PASSWORD", "hunter2"}, {"FANLINE_REDIS", "redis://app:hunter2@r:1"}};
  const Parsed parsed = w.Parse({"--check-config"});
  EXPECT_THAT(parsed.out, HasSubstr("redis-password = ***"));
  EXPECT_THAT(parsed.out, HasSubstr("redis://***@r:1"));
  EXPECT_THAT(parsed.out, Not(HasSubstr("hunter2")));
}

TEST(Options, ARefusedSecretIsNotShownEither) {
  OptionsWorld w;
  uint16_t pin = 0;
  w.table.Add("pin", &pin, "a secret number").Secret();
  EXPECT_THAT(w.Parse({"--pin", "hunter2"}).err, HasSubstr("--pin: \"***\" is not a whole number"));
}

TEST(Options, ASecretBehindAFlagWhoseValueWasForgottenIsNotShownEither) {
  OptionsWorld w;
  const std::string err = w.Parse({"--redis", "--redis-password=hunter2"}).err;
  EXPECT_THAT(err, HasSubstr("--redis: has no value (the next argument is --redis-password)"));
  EXPECT_THAT(err, Not(HasSubstr("hunter2")));
}

TEST(Options, ADefaultThatIsSecretIsNotInTheHelp) {
  OptionsWorld w;
  std::string token = "hunter2";
  w.table.Add("token", &token, "who we are").Secret();
  EXPECT_THAT(w.Parse({"--help"}).out, Not(HasSubstr("hunter2")));
}

// OptionsWorld: as above, with a token that may stand in a file.
struct SecretWorld : OptionsWorld {
  Secret token;
  SecretWorld() { table.AddSecret("token", &token, "who we are"); }

  std::string Token() {
    std::string read;
    EXPECT_EQ(token.Read(&read), "");
    return read;
  }
};

TEST(Options, ASecretMayStandInAFileThatAnySourceNames) {
  SecretWorld w;
  const char* file = w.File("hunter2\n");
  EXPECT_TRUE(w.Parse({"--token-file", file}).proceed());
  EXPECT_EQ(w.Token(), "hunter2");
  SecretWorld by_variable;
  by_variable.env = {{"FANLINE_TOKEN_FILE", file}};
  EXPECT_TRUE(by_variable.Parse({}).proceed());
  EXPECT_EQ(by_variable.Token(), "hunter2");
  SecretWorld by_config;
  const std::string config = "token-file = \"" + std::string(file) + "\"\n";
  EXPECT_TRUE(by_config.Parse({"--config", by_config.File(config)}).proceed());
  EXPECT_EQ(by_config.Token(), "hunter2");
}

TEST(Options, ASecretGivenTwiceIsRefusedWhicheverSourcesGiveIt) {
  SecretWorld w;
  w.env = {{"FANLINE_TOKEN", "hunter2"}};
  const Parsed parsed = w.Parse({"--token-file", w.File("hunter2")});
  EXPECT_EQ(parsed.exit_code, kExitConfig);
  EXPECT_THAT(parsed.err, HasSubstr("--token: --token-file is given, too; leave one of them out"));
  EXPECT_THAT(parsed.err, Not(HasSubstr("hunter2")));
}

TEST(Options, CheckConfigReadsTheFilesOfSecretsAndShowsTheirPaths) {
  SecretWorld w;
  const Parsed good = w.Parse({"--check-config", "--token-file", w.File("hunter2")});
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_THAT(good.out, HasSubstr(w.token.file));
  EXPECT_THAT(good.out, Not(HasSubstr("hunter2")));
  const Parsed bad = w.Parse({"--check-config", "--token-file", "/nowhere/token"});
  EXPECT_EQ(bad.exit_code, kExitConfig);
  EXPECT_THAT(bad.err, HasSubstr("--token-file: /nowhere/token: cannot be read: No such file"));
}

TEST(Options, CheckConfigExitsWith78WhicheverSourceIsWrong) {
  OptionsWorld w;
  EXPECT_EQ(w.Parse({"--check-config", "--window=x"}).exit_code, kExitConfig);
}

TEST(Options, ARequiredOptionMayComeFromAnySource) {
  OptionsWorld w;
  std::string node;
  w.table.Add("node", &node, "who am I").Required();
  EXPECT_THAT(w.Parse({}).err, HasSubstr("--node: is required (or FANLINE_NODE)"));
  EXPECT_EQ(w.Parse({}).exit_code, kExitConfig);
  w.env["FANLINE_NODE"] = "n1";
  EXPECT_TRUE(w.Parse({}).proceed());
}

TEST(Options, ARuleOverSeveralOptionsIsAskedOnceAllAreStored) {
  OptionsWorld w;
  w.table.Check([&w] {
    return w.window > w.linger.count() ? "" : "window must be above linger, in milliseconds";
  });
  EXPECT_TRUE(w.Parse({"--window=10", "--linger=9ms"}).proceed());
  const Parsed parsed = w.Parse({"--window=10", "--linger=10ms"});
  EXPECT_EQ(parsed.exit_code, kExitConfig);
  EXPECT_THAT(parsed.err, HasSubstr("window must be above linger"));
}

TEST(Options, HelpShowsFlagVariableUnitRangeAndDefault) {
  OptionsWorld w;
  const Parsed parsed = w.Parse({"--help"});
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_THAT(parsed.out, HasSubstr("  --window items\n        items of a timeline\n"
                                    "        FANLINE_WINDOW, 1..512, default 450\n"));
  EXPECT_THAT(parsed.out, HasSubstr("--linger DURATION"));
  EXPECT_THAT(parsed.out, HasSubstr("--mode fast|safe"));
}

TEST(Options, ABoundOfADurationMeansTheSameInAnyUnitOfItsTarget) {
  OptionsWorld w;
  milliseconds pause{500};
  std::chrono::microseconds grace{500'000};
  w.table.Add("pause", &pause, "").Range(100ms, 10min);
  w.table.Add("grace", &grace, "").Range(100ms, 10min);
  for (const std::string name : {"--pause", "--grace"}) {
    EXPECT_TRUE(w.Parse({name.c_str(), "100ms"}).proceed());
    EXPECT_TRUE(w.Parse({name.c_str(), "10m"}).proceed());
    EXPECT_THAT(w.Parse({name.c_str(), "99ms"}).err, HasSubstr("is not in 100ms..10m"));
    EXPECT_THAT(w.Parse({name.c_str(), "601s"}).err, HasSubstr("is not in 100ms..10m"));
  }
}

TEST(Options, HelpIsGivenEvenWhenTheRestIsWrong) {
  OptionsWorld w;
  EXPECT_EQ(w.Parse({"--windwo", "-h"}).exit_code, 0);
}

// The configuration file

TEST(OptionsFile, AHashInsideQuotesBelongsToTheValue) {
  OptionsWorld w;
  const char* file = w.File("redis-password = \"a#b c\"  # not this\nredis = \"[a,b] = 'c'\"\r\n");
  EXPECT_TRUE(w.Parse({"--config", file}).proceed());
  EXPECT_EQ(w.password, "a#b c");
  EXPECT_EQ(w.redis, "[a,b] = 'c'");
}

TEST(OptionsFile, AWrongOneIsAConfigurationErrorThatSaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"\nredis = \"a\n", "line 2: a quote is not closed"},
      {"redis = \"a\" b\n", "line 1: a quote is not closed, or something follows it"},
      {"window = 1\nverify = true\nwindow = 2\n", "line 3: window is given twice"},
      {"window = many\n", ": window: \"many\" is not a whole number"},
      {"kafka_brokers = \"a:1\"\n", "unknown key kafka_brokers"},
  };
  for (const auto& [content, reason] : table) {
    OptionsWorld w;
    const Parsed parsed = w.Parse({"--config", w.File(content)});
    EXPECT_EQ(parsed.exit_code, kExitConfig) << reason;
    EXPECT_THAT(parsed.err, HasSubstr(reason));
  }
  for (const char* path : {"/tmp", "/nowhere.toml"}) {
    const Parsed parsed = OptionsWorld().Parse({"--config", path});
    EXPECT_EQ(parsed.exit_code, kExitConfig);
    EXPECT_THAT(parsed.err, HasSubstr(std::string(path) + ": cannot be read"));
  }
}

TEST(OptionsFile, ALineWithoutAValueIsRefused) {
  for (const char* line : {"redis", "verify", "xy", "]", "[kafka", "redis:x # = y"}) {
    OptionsWorld w;
    w.verify = false;
    const Parsed parsed = w.Parse({"--config", w.File("window = 1\n" + std::string(line) + "\n")});
    EXPECT_EQ(parsed.exit_code, kExitConfig) << line;
    EXPECT_THAT(parsed.err, EndsWith(": line 2: expected key = value\n")) << line;
    EXPECT_FALSE(w.verify);
  }
}

TEST(OptionsFile, AListIsWrittenAsOnACommandLine) {
  OptionsWorld w;
  const char* file = w.File("kafka-brokers = a:1,b:2\nredis = a:1 b:2\n");
  EXPECT_TRUE(w.Parse({"--config", file}).proceed());
  EXPECT_THAT(w.brokers, ElementsAre("a:1", "b:2"));
  EXPECT_EQ(w.redis, "a:1 b:2");
}

// Programs with commands

struct CommandWorld {
  std::string redis = "r:1";
  uint64_t author = 0;
  std::string reader;
  std::vector<std::string> posts;
  OptionTable table{"feedctl", "operates a feed"};
  Environment env;

  CommandWorld() {
    table.Add("redis", &redis, "where the timelines live");
    OptionTable& publish = table.AddCommand("publish", "publishes posts");
    publish.Add("author", &author, "who posts").Required();
    publish.AddPositional("post", &posts, "their ids");
    table.AddCommand("timeline", "shows a timeline").AddPositional("reader", &reader, "whose");
    OptionTable& dlq = table.AddCommand("dlq", "dead letters");
    dlq.AddCommand("list", "shows them");
    dlq.AddCommand("replay", "dispatches them again");
  }

  Parsed Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "feedctl");
    return table.Parse(static_cast<int>(arguments.size()), arguments.data(), env);
  }
};

TEST(OptionsCommand, TakesItsFlagsAndArguments) {
  CommandWorld w;
  const Parsed parsed = w.Parse({"publish", "--author", "5", "77", "78"});
  EXPECT_TRUE(parsed.proceed()) << parsed.err;
  EXPECT_EQ(parsed.command, "publish");
  EXPECT_EQ(w.author, 5u);
  EXPECT_THAT(w.posts, ElementsAre("77", "78"));
  EXPECT_EQ(w.Parse({"dlq", "replay"}).command, "dlq replay");
  EXPECT_EQ(w.Parse({"timeline", "publish"}).command, "timeline");
  EXPECT_EQ(w.reader, "publish");
}

TEST(OptionsCommand, OptionsOfTheProgramStandBeforeOrAfterIt) {
  for (const auto& arguments : {std::vector<const char*>{"--redis", "x:2", "timeline", "9"},
                                std::vector<const char*>{"timeline", "--redis", "x:2", "9"},
                                std::vector<const char*>{"timeline", "9", "--redis", "x:2"}}) {
    CommandWorld w;
    EXPECT_TRUE(w.Parse(arguments).proceed());
    EXPECT_EQ(w.redis, "x:2");
    EXPECT_EQ(w.reader, "9");
  }
}

TEST(OptionsCommand, AnswersWithTheVersionOfTheProgram) {
  CommandWorld w;
  EXPECT_EQ(w.Parse({"dlq", "list", "--version"}).out, "feedctl " FANLINE_VERSION "\n");
  EXPECT_EQ(w.Parse({"--version"}).out, "feedctl " FANLINE_VERSION "\n");
}

TEST(OptionsCommand, MayHaveAVersionOfItsOwn) {
  OptionTable table("feedctl", "operates a feed");
  uint64_t version = 0;
  table.AddCommand("hide", "hides a post").Add("version", &version, "of the change");
  const char* arguments[] = {"feedctl", "hide", "--version", "2"};
  EXPECT_EQ(table.Parse(4, arguments, {}).command, "hide");
  EXPECT_EQ(version, 2u);
}

TEST(OptionsCommand, AWrongCommandLineIsAUsageErrorThatSaysWhatIsWrong) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> table = {
      {{}, "One of: publish timeline dlq"},
      {{"dlq"}, "One of: list replay"},
      {{"publsh"}, "unknown command \"publsh\""},
      {{"timeline"}, "<reader>: is required"},
      {{"timeline", "9", "10"}, "unexpected argument \"10\""},
      {{"timeline", "9", "--author", "5"}, "unknown option --author"},
      {{"publish", "77"}, ""},
  };
  for (const auto& [arguments, reason] : table) {
    const Parsed parsed = CommandWorld().Parse(arguments);
    EXPECT_EQ(parsed.exit_code, kExitUsage) << reason;
    EXPECT_THAT(parsed.err, HasSubstr(reason));
  }
}

TEST(OptionsCommand, AFileMayHoldTheOptionsOfAnotherCommand) {
  OptionsWorld file;
  CommandWorld w;
  w.env["FANLINE_CONFIG"] = file.File("author = 5\nredis = \"x:2\"\n");
  EXPECT_TRUE(w.Parse({"timeline", "9"}).proceed());
  EXPECT_EQ(w.redis, "x:2");
}

TEST(OptionsCommand, HelpIsOfTheCommandWithTheProgramsOptionsBehind) {
  CommandWorld w;
  const std::string help = w.Parse({"publish", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("Usage: feedctl publish [options] <post>..."));
  EXPECT_THAT(help, HasSubstr("--author N"));
  EXPECT_THAT(help, HasSubstr("Options of feedctl:\n  --redis TEXT"));
  EXPECT_THAT(help, Not(HasSubstr("<reader>")));
  EXPECT_THAT(w.Parse({"timeline", "-h"}).out, HasSubstr("Usage: feedctl timeline"));
  EXPECT_THAT(w.Parse({"--help"}).out, HasSubstr("  timeline  shows a timeline\n"));
}

TEST(OptionsDeathTest, ADurationIsBoundedByDurationsAndNothingElseIs) {
  milliseconds linger{};
  int32_t window = 0;
  OptionTable table("p", "");
  EXPECT_DEATH(table.Add("linger", &linger, "").Range(0, 1'000), "bounded by durations");
  EXPECT_DEATH(table.Add("window", &window, "").Range(1ms, 1s), "durations only");
}

TEST(OptionsDeathTest, AnOptionDeclaredTwiceOnOneWayIsAFaultOfTheProgram) {
  EXPECT_DEATH(
      {
        std::string text;
        OptionTable table("p", "");
        table.Add("redis", &text, "");
        table.AddCommand("c", "").Add("redis", &text, "");
      },
      "declared twice");
}

}  // namespace
}  // namespace fanline::daemon
