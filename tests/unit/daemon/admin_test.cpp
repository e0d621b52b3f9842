#include "daemon/observe/admin.h"

#include <gmock/gmock.h>

#include <sstream>
#include <vector>

#include "daemon/observe/metrics.h"
#include "tests/unit/http/client.h"

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

using Connection = http::Client;

// AdminWorld: an admin server on a free port, with a clock that the test moves.
struct AdminWorld {
  Time now{1h};
  prometheus::Registry registry;
  Health health{{.stall_limit = 10s}};
  std::ostringstream out;
  Log log{"test", {}, out, [] { return UnixMs{0}; }};
  Admin admin{AdminOptions(), registry, health, log, [this] { return Now{now, 0}; }};

  std::string Get(const std::string& path) const {
    const Connection connection(admin.port());
    connection.Send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return connection.ReceiveAll();
  }
};

TEST(Admin, LogsTheFreePortItTook) {
  AdminWorld w;
  EXPECT_GT(w.admin.port(), 0);
  EXPECT_THAT(w.out.str(),
              HasSubstr(R"("host":"127.0.0.1","port":)" + std::to_string(w.admin.port()) + "}"));
}

TEST(Admin, ServesTheMetricsOfTheRegistryAndOfTheProcess) {
  AdminWorld w;
  AddCounter(w.registry, "fanline_hints_total", "Hints seen.").Increment(3);
  const std::string answer = w.Get("/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer, HasSubstr("\nfanline_hints_total 3\n"));
  EXPECT_THAT(answer, HasSubstr("\nprocess_resident_memory_bytes "));
  EXPECT_THAT(answer, ContainsRegex("\nprocess_start_time_seconds [0-9]{10}"));
  EXPECT_THAT(answer, HasSubstr("\nfanline_build_info{"));
}

TEST(Admin, ShowsEveryConditionOfReadinessAndEveryResourceAsAMetric) {
  AdminWorld w;
  w.health.SetReady("loop", true);
  w.health.SetReady("ranges", false, "one waits");
  w.health.SetReach("mysql_0", "mysql", Reach::kWhole);
  w.health.SetReach("mysql_1", "mysql", Reach::kAway, "no answer");
  const std::string answer = w.Get("/metrics");
  EXPECT_THAT(answer, HasSubstr("\nfanline_ready{condition=\"loop\"} 1\n"));
  EXPECT_THAT(answer, HasSubstr("\nfanline_ready{condition=\"ranges\"} 0\n"));
  EXPECT_THAT(answer, HasSubstr("\nfanline_reachable{resource=\"mysql_0\"} 1\n"));
  EXPECT_THAT(answer, HasSubstr("\nfanline_reachable{resource=\"mysql_1\"} 0\n"));
}

TEST(Admin, AnswersReadyOnlyWhileEveryConditionHolds) {
  AdminWorld w;
  w.health.SetReady("redis", false, "connection refused");
  const std::string answer = w.Get("/readyz");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(answer, HasSubstr(R"("reasons":{"redis":"connection refused"})"));
  EXPECT_THAT(w.Get("/healthz"), StartsWith("HTTP/1.1 200"));
  w.health.SetReady("redis", true);
  EXPECT_THAT(w.Get("/readyz"), StartsWith("HTTP/1.1 200"));
}

TEST(Admin, AnswersUnhealthyOnceTheLoopStandsStill) {
  AdminWorld w;
  w.health.Beat(w.now);
  EXPECT_THAT(w.Get("/healthz"), StartsWith("HTTP/1.1 200"));
  w.now += 11s;
  EXPECT_THAT(w.Get("/healthz"), StartsWith("HTTP/1.1 503"));
}

TEST(Admin, AnswersNothingElse) {
  AdminWorld w;
  EXPECT_THAT(w.Get("/"), StartsWith("HTTP/1.1 404"));
}

TEST(Admin, AnswersByGetAlone) {
  AdminWorld w;
  const Connection connection(w.admin.port());
  connection.Send("POST /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answer = connection.ReceiveAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(answer, HasSubstr("Allow: GET, HEAD\r\n"));
}

TEST(Admin, AnswersAProbeWhileClientsStayConnected) {
  AdminWorld w;
  std::vector<std::unique_ptr<Connection>> idle;
  for (int i = 0; i < 30; ++i) {
    idle.push_back(std::make_unique<Connection>(w.admin.port()));
    idle.back()->Send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n");
  }
  EXPECT_THAT(w.Get("/healthz"), StartsWith("HTTP/1.1 200"));
  for (const auto& client : idle) {
    EXPECT_THAT(client->ReceiveAll(), HasSubstr("Connection: close"));
  }
}

TEST(Admin, DoesNotShareItsPortWithAnotherDaemon) {
  AdminWorld w;
  const AdminOptions same_port{{"127.0.0.1", w.admin.port()}};
  try {
    const Admin second(same_port, w.registry, w.health, w.log);
    FAIL() << "two servers listen on port " << w.admin.port();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot listen on 127.0.0.1:"));
    EXPECT_THAT(error.what(), HasSubstr("Address already in use; each daemon needs an "
                                        "--admin-listen of its own"));
  }
}

TEST(Admin, ListensOnLoopbackOnlyUnlessToldOtherwise) {
  EXPECT_EQ(AdminOptions().listen.host, "127.0.0.1");
}

}  // namespace
}  // namespace fanline::daemon
