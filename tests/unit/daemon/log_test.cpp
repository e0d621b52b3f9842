#include "daemon/observe/log.h"

#include <gmock/gmock.h>

#include <limits>
#include <sstream>
#include <thread>
#include <vector>

#include "fanline/model/ids.h"

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr UnixMs kNoon = 1'769'860'800'123;  // 2026-01-31T12:00:00.123Z

// LogWorld: a log into memory whose clock stands at noon.
struct LogWorld {
  std::ostringstream out;
  Log log{"pusher", {.level = "info"}, out, [] { return kNoon; }};

  // The fields behind the message, of the only line.
  std::string FieldsOf(Fields fields) {
    out.str("");
    log.Info("m", fields);
    const std::string line = out.str();
    const size_t begin = line.find(R"("msg":"m")") + 9;
    return line.substr(begin, line.size() - begin - 2);
  }
};

TEST(Log, WritesOneJsonObjectALine) {
  LogWorld w;
  w.log.Info("assigned", {{"range", 3}, {"offset", 77}});
  EXPECT_EQ(w.out.str(), R"({"ts":"2026-01-31T12:00:00.123Z","level":"info","component":"pusher",)"
                         R"("msg":"assigned","range":3,"offset":77})"
                         "\n");
}

TEST(Log, NamesTheLevelAndDropsWhatIsBelowItsOwn) {
  LogWorld w;
  w.log.Warn("a");
  w.log.Error("b");
  EXPECT_THAT(w.out.str(), HasSubstr(R"("level":"warn")"));
  EXPECT_THAT(w.out.str(), HasSubstr(R"("level":"error")"));
}

TEST(Log, EscapesAnyBytes) {
  LogWorld w;
  EXPECT_EQ(w.FieldsOf({{"k", "a\"b\\c\nd\te"}}), R"(,"k":"a\"b\\c\nd\te")");
  EXPECT_EQ(w.FieldsOf({{"k", std::string("\0\x1f", 2)}}), R"(,"k":"\u0000\u001f")");
  EXPECT_EQ(w.FieldsOf({{"k", "caf\xc3\xa9"}}), ",\"k\":\"caf\xc3\xa9\"");
  EXPECT_EQ(w.FieldsOf({{"k", "bad \xff\xc3"}}), ",\"k\":\"bad \xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(w.FieldsOf({{"a\"b", true}}), R"(,"a\"b":true)");
  w.log.Info("100% {} %v {0}");
  EXPECT_THAT(w.out.str(), HasSubstr(R"("msg":"100% {} %v {0}")"));
}

TEST(Log, WritesIdsAndNumbersThatReadersWouldRoundAsStrings) {
  LogWorld w;
  EXPECT_EQ(w.FieldsOf({{"k", uint64_t{1} << 53}}), R"(,"k":9007199254740992)");
  EXPECT_EQ(w.FieldsOf({{"k", uint64_t{18446744073709551614u}}}), R"(,"k":"18446744073709551614")");
  EXPECT_EQ(w.FieldsOf({{"k", std::numeric_limits<int64_t>::min()}}),
            R"(,"k":"-9223372036854775808")");
  EXPECT_EQ(w.FieldsOf({{"author", UserId{5}}}), R"(,"author":"5")");
  EXPECT_EQ(w.FieldsOf({{"k", std::numeric_limits<double>::infinity()}}), R"(,"k":null)");
}

TEST(Log, DoesNotLetAFieldReplaceItsOwn) {
  LogWorld w;
  EXPECT_EQ(w.FieldsOf({{"msg", "x"}, {"level", 9}}), R"(,"msg_":"x","level_":9)");
}

TEST(Log, CutsALongText) {
  LogWorld w;
  const std::string fields = w.FieldsOf({{"k", std::string(100'000, 'x')}});
  EXPECT_LT(fields.size(), kMaxFieldBytes + 100);
  EXPECT_THAT(fields, EndsWith("... (100000 bytes)\""));
}

TEST(Log, NeverShowsThePasswordOfAUrl) {
  LogWorld w;
  w.log.Info("cannot reach redis://u:hunter2@r", {{"url", "mysql://u:hunter2@db"}});
  EXPECT_THAT(w.out.str(), Not(HasSubstr("hunter2")));
  EXPECT_THAT(w.out.str(), HasSubstr("mysql://***@db"));
}

TEST(Log, GivesAnAdapterASinkThatOutlivesIt) {
  LogWorld w;
  LogSink sink = w.log.Sink();
  sink(LogLevel::kWarn, "broker away");
  sink(LogLevel::kDebug, "detail");
  EXPECT_THAT(w.out.str(),
              HasSubstr(R"("level":"warn","component":"pusher","msg":"broker away"})"));
  EXPECT_THAT(w.out.str(), Not(HasSubstr("detail")));
}

TEST(Log, SaysARepeatedWarningOfAKeyOncePerIntervalAndHowManyItLeftOut) {
  LogWorld w;
  const Time start{};
  for (int i = 0; i < 5; ++i) w.log.WarnEvery("redis", 10s, start + i * 1s, "redis is away");
  w.log.WarnEvery("mysql", 10s, start, "mysql is away");
  EXPECT_THAT(w.out.str(), HasSubstr("mysql is away"));
  EXPECT_THAT(w.out.str(), Not(HasSubstr("suppressed")));
  w.out.str("");
  w.log.WarnEvery("redis", 10s, start + 10s, "redis is away", {{"node", "r:1"}});
  EXPECT_THAT(w.out.str(), EndsWith("\"node\":\"r:1\",\"suppressed\":4}\n"));
}

TEST(Log, KeepsLinesOfSeveralThreadsWhole) {
  LogWorld w;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&w] {
      for (int i = 0; i < 100; ++i) w.log.Info("m", {{"i", i}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream lines(w.out.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(line.starts_with(R"({"ts")") && line.ends_with("}")) << line;
  }
  EXPECT_EQ(count, 400);
}

TEST(Rfc3339, WritesMillisecondsOfUtc) {
  EXPECT_EQ(Rfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(Rfc3339(kNoon), "2026-01-31T12:00:00.123Z");
  EXPECT_EQ(Rfc3339(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace fanline::daemon
