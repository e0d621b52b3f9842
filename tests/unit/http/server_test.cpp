// The server over real sockets on loopback.
#include "http/server.h"

#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "tests/unit/http/client.h"

namespace fanline::http {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Answers "<method> <path> <body>"; /wait only when it is told to, and /large with a lot.
class Echo : public Service {
 public:
  using Alive = decltype(Request::alive);

  static constexpr size_t kLarge = 32 * 1024 * 1024;

  void Serve(Request request, Answer answer) override {
    const std::lock_guard lock(mutex_);
    if (request.path == "/throw") throw std::runtime_error("a fault");
    const std::string what = request.method + " " + request.path + " " + request.body;
    served_.push_back(what);
    std::string body = request.path == "/large" ? std::string(kLarge, 'x') : "<" + what + ">";
    Response response{200, "text/plain", std::move(body), {}};
    if (request.path != "/wait") return answer(response);
    alive_ = request.alive;
    held_ = [answer = std::move(answer), response = std::move(response)] { answer(response); };
    changed_.notify_all();
  }
  Response Refuse(int status, const std::string& detail) override {
    ++refused;
    return {status, "text/plain", detail, {}};
  }
  void Connected(size_t clients) override {
    const std::lock_guard lock(mutex_);
    clients_ = clients;
    changed_.notify_all();
  }
  void ClosedIdle() override { ++closed_idle; }
  void TurnedAway() override { ++turned_away; }
  void Serving(size_t requests, size_t left) override {
    const std::lock_guard lock(mutex_);
    serving_ = requests;
    left_ = left;
    changed_.notify_all();
  }
  void Kept(int64_t bytes) override { kept_ += bytes; }

  // Answers the request to /wait once it has come, from the test's thread.
  void AnswerHeld() { TakeHeld()(); }
  std::function<void()> TakeHeld() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return held_ != nullptr; });
    return std::exchange(held_, nullptr);
  }
  // That of the request that TakeHeld has returned last.
  Alive alive() {
    const std::lock_guard lock(mutex_);
    return alive_;
  }
  void AwaitClients(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return clients_ == count; });
  }
  void AwaitServing(size_t requests, size_t left) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return serving_ == requests && left_ == left; });
  }
  void AwaitKept(bool some) const {
    while ((kept_ >= static_cast<int64_t>(kLarge)) != some || (!some && kept_ != 0)) {
      std::this_thread::yield();
    }
  }
  std::vector<std::string> served() {
    const std::lock_guard lock(mutex_);
    return served_;
  }

  std::atomic<int> refused = 0, turned_away = 0, closed_idle = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> served_;
  std::function<void()> held_;
  Alive alive_;
  size_t clients_ = 0, serving_ = 0, left_ = 0;
  std::atomic<int64_t> kept_ = 0;
};

std::string With(const std::string& line, const std::string& headers = {},
                 const std::string& body = {}) {
  return line + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + body;
}

constexpr Limits kQuick{.head_time = 150ms,
                        .body_time = 150ms,
                        .write_time = 150ms,
                        .idle_time = 150ms,
                        .linger_time = 150ms};

class ServerTest : public ::testing::Test {
 protected:
  Server& Start(const Limits& limits = {}) {
    return server_.emplace("127.0.0.1", 0, limits, echo_);
  }
  // Everything the server says on one connection to these bytes.
  std::string Tell(const std::string& text) {
    if (!server_) Start();
    const Client client(server_->port());
    client.Send(text);
    client.SendNoMore();
    return client.ReceiveAll();
  }

  Echo echo_;
  std::optional<Server> server_;
};

TEST_F(ServerTest, AnswersAllPipelinedRequestsInOrder) {
  std::string requests, expected;
  for (int i = 0; i < 2'000; ++i) {
    const std::string number = std::to_string(i);
    requests += With("POST /" + number, "Content-Length: " + std::to_string(number.size()) + "\r\n",
                     number);
    expected += "<POST /" + number + " " + number + ">";
  }
  const std::string all = Tell(requests);
  std::string bodies;
  for (size_t at = 0; (at = all.find('<', at)) != std::string::npos; ++at) {
    bodies += all.substr(at, all.find('>', at) + 1 - at);
  }
  EXPECT_EQ(bodies, expected);
}

TEST_F(ServerTest, WhatIsPipelinedWaitsForTheAnswerBefore) {
  Start();
  const Client client(server_->port());
  client.Send(With("GET /wait") + With("GET /next"));
  const auto answer = echo_.TakeHeld();
  EXPECT_THAT(echo_.served(), ElementsAre("GET /wait "));
  answer();
  EXPECT_THAT(client.ReceiveUntil("/next >"), HasSubstr("/wait >HTTP/1.1 200"));
}

TEST_F(ServerTest, WhatAClientSendsAheadIsLeftInTheKernelWhileItIsServed) {
  Start();
  const Client client(server_->port());
  client.Send(With("GET /wait"));
  const auto answer = echo_.TakeHeld();
  const std::string ahead = With("GET /next", "A: " + std::string(8'000, 'a') + "\r\n");
  std::thread sender([&] {
    for (int i = 0; i < 2'000; ++i) client.Send(ahead);  // 16 MB: more than a socket holds
    client.SendNoMore();
  });
  EXPECT_EQ(echo_.served().size(), 1u);
  answer();
  EXPECT_EQ(CountOf("<GET /next >", client.ReceiveAll()), 2'000u);
  sender.join();
}

TEST_F(ServerTest, NoByteBehindAnAmbiguousRequestIsEverARequest) {
  const std::string inner = With("DELETE /inner");
  const std::string length = std::to_string(inner.size());
  const std::string post = "POST /outer HTTP/1.1\r\nHost: x\r\n";
  for (const std::string& request : {
           post + "Content-Length : " + length + "\r\n\r\n" + inner,
           post + "Content-Length: " + length + "\n\r\n" + inner,
           post + "Content-Length:\r\n " + length + "\r\n\r\n" + inner,
           post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + inner,
           post + "Transfer-Encoding: chunked\r\nContent-Length: " + length + "\r\n\r\n0\r\n\r\n" +
               inner,
           post + "Content-Length: 0\r\nContent-Length: " + length + "\r\n\r\n" + inner,
           post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner,
           post + "Transfer-Encoding: chunked\r\n\r\n0\r\n\n" + inner,
           post + "Transfer-Encoding: chunked\r\n\r\n1;\nx\r\n" + inner,
           "GET /outer HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + "\r\n\r\n" + inner,
           "GET /outer HTTP/1.1\nHost: x\n\n" + inner,
           "POST /outer HTTP/1.1\r\nContent-Length: 0\r\n\r\n" + inner,
       }) {
    const std::string answer = Tell(request);
    EXPECT_THAT(answer, ::testing::ContainsRegex("^HTTP/1.1 (400|501) ")) << request;
    EXPECT_EQ(CountOf("HTTP/1.1 ", answer), 1u) << request;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n")) << request;
  }
  EXPECT_THAT(echo_.served(), IsEmpty());
}

TEST_F(ServerTest, AHeadThatDripsIsCutOffInTimeAsAWhole) {
  Start(kQuick);
  const Client client(server_->port());
  std::thread dripper([&] {
    while (client.Send("a")) std::this_thread::yield();
  });
  EXPECT_THAT(client.ReceiveAll(), ::testing::AnyOf(HasSubstr(" 408 "), HasSubstr(" 414 ")));
  dripper.join();
}

TEST_F(ServerTest, ARequestThatDoesNotEndIs408) {
  Start(kQuick);
  for (const std::string& begin :
       {std::string("GET / HTTP/1.1\r\nHost"), With("POST /", "Content-Length: 5\r\n", "hell"),
        With("POST /", "Transfer-Encoding: chunked\r\n", "5\r\nhell")}) {
    const Client client(server_->port());
    client.Send(begin);
    const std::string answer = client.ReceiveAll();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 408 ")) << begin;
    EXPECT_THAT(answer, HasSubstr("Connection: close"));
  }
  EXPECT_THAT(echo_.served(), IsEmpty());
}

TEST_F(ServerTest, AnIdleConnectionIsClosedWithoutAWord) {
  Start(kQuick);
  const Client silent(server_->port());
  EXPECT_EQ(silent.ReceiveAll(), "");
  const Client asked_once(server_->port());
  asked_once.Send(With("GET /"));
  EXPECT_EQ(CountOf("HTTP/1.1 ", asked_once.ReceiveAll()), 1u);
}

TEST_F(ServerTest, WhoReadsNoAnswerIsCutOff) {
  Start(kQuick);
  const Client client(server_->port(), 4'096);
  client.Send(With("GET /large"));
  echo_.AwaitClients(1);
  echo_.AwaitClients(0);
  EXPECT_LT(client.ReceiveAll().size(), Echo::kLarge);
  echo_.AwaitKept(false);
}

TEST_F(ServerTest, AnAnswerCountsAsKeptUntilItsClientHasTakenIt) {
  Start();
  const Client client(server_->port(), 4'096);
  client.Send(With("GET /large"));
  echo_.AwaitKept(true);
  client.SendNoMore();
  EXPECT_GT(client.ReceiveAll().size(), Echo::kLarge);
  echo_.AwaitKept(false);
}

TEST_F(ServerTest, OneConnectionTooManyTakesThePlaceOfTheOneThatHasBeenIdleForLongest) {
  Start({.connections = 3, .idle_at_least = 0ms});
  const Client first(server_->port());
  echo_.AwaitClients(1);
  const Client second(server_->port()), third(server_->port());
  echo_.AwaitClients(3);
  for (const Client* client : {&first, &second}) {
    client->Send(With("GET /a"));
    client->ReceiveUntil(">");
  }
  echo_.AwaitServing(0, 0);
  ASSERT_THAT(Tell(With("GET /b")), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(third.ReceiveAll(), "");
  for (const Client* client : {&first, &second}) {
    client->Send(With("GET /c"));
    EXPECT_THAT(client->ReceiveUntil(">"), HasSubstr("<GET /c >"));
  }
  EXPECT_EQ(echo_.closed_idle, 1);
  EXPECT_EQ(echo_.turned_away, 0);
}

TEST_F(ServerTest, NoConnectionIsClosedForAnotherWhileItsRequestIsServed) {
  Start({.connections = 1, .idle_at_least = 0ms});
  const Client client(server_->port());
  client.Send(With("GET /wait"));
  const auto answer = echo_.TakeHeld();
  EXPECT_THAT(Tell(With("GET /")), StartsWith("HTTP/1.1 503 "));
  answer();
  EXPECT_THAT(client.ReceiveUntil(">"), HasSubstr("<GET /wait >"));
  EXPECT_EQ(echo_.closed_idle, 0);
}

TEST_F(ServerTest, OneConnectionTooManyIsToldSoAndAPlaceThatIsFreeIsGiven) {
  Start({.connections = 2, .idle_at_least = 1h});
  auto first = std::make_optional<Client>(server_->port());
  const Client second(server_->port());
  echo_.AwaitClients(2);
  EXPECT_THAT(Tell(With("GET /")), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(echo_.turned_away, 1);
  first.reset();
  echo_.AwaitClients(1);
  EXPECT_THAT(Tell(With("GET /")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, ClientsThatSayNothingOrDripHoldNobodyUp) {
  Start();
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 300; ++i) {
    idle.push_back(std::make_unique<Client>(server_->port()));
    if (i % 2 == 0) idle.back()->Send("GET / HT");
  }
  EXPECT_THAT(Tell(With("GET /")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, Http10IsAnsweredAndClosedUnlessItAsksToStay) {
  Start();
  const Client closes(server_->port());
  closes.Send("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_THAT(closes.ReceiveAll(), HasSubstr("Connection: close\r\n"));
  const Client stays(server_->port());
  for (int i = 0; i < 2; ++i) {
    stays.Send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_THAT(stays.ReceiveUntil(">"), HasSubstr("Connection: keep-alive\r\n"));
  }
}

TEST_F(ServerTest, WhoExpects100IsToldToGoOn) {
  Start();
  const Client client(server_->port());
  client.Send(With("POST /", "Content-Length: 5\r\nExpect: 100-continue\r\n"));
  EXPECT_EQ(client.ReceiveUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("hello");
  EXPECT_THAT(client.ReceiveUntil(">"), HasSubstr("<POST / hello>"));
  const std::string large = With("POST /", "Content-Length: 99999\r\nExpect: 100-continue\r\n");
  EXPECT_THAT(Tell(large), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Tell(With("POST /", "Content-Length: 5\r\nExpect: 99\r\n")),
              StartsWith("HTTP/1.1 417 "));
}

TEST_F(ServerTest, AnAnswerToHeadHasNoBody) {
  const std::string answer = Tell(With("HEAD /abc") + With("GET /d"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 12\r\n\r\nHTTP/1.1 200"));
  EXPECT_THAT(answer, Not(HasSubstr("<HEAD")));
  EXPECT_THAT(Tell("HEAD / HTTP/1.1\r\n\r\n"), ::testing::EndsWith("\r\n\r\n"));
}

TEST_F(ServerTest, ARefusalHasABodyUnlessTheRefusedRequestIsAHead) {
  for (const std::string& head : {std::string("\r\nHEAD /a HTTP/1.1\r\n\r\n"),
                                  With("HEAD /a", "Content-Length: 99999999\r\n"),
                                  With("HEAD /a", "Transfer-Encoding: chunked\r\n", "zz\r\n"),
                                  With("GET /") + "HEAD /a HTTP/1.1\r\n\r\n"}) {
    const std::string all = Tell(head);
    EXPECT_THAT(all, HasSubstr("HTTP/1.1 4")) << head;
    EXPECT_THAT(all, ::testing::EndsWith("\r\n\r\n")) << head;
  }
  EXPECT_THAT(Tell(With("HEAD /a") + "GET /b HTTP/1.1\r\n\r\n"),
              Not(::testing::EndsWith("\r\n\r\n")));
}

TEST_F(ServerTest, ARefusalIsNoAnswerToTheRequestBefore) {
  Start(kQuick);
  const Client asked(server_->port());
  asked.Send(With("HEAD /a"));
  asked.ReceiveUntil("\r\n\r\n");
  asked.Send("GET /b HT");
  EXPECT_THAT(asked.ReceiveAll(),
              ::testing::AllOf(StartsWith("HTTP/1.1 408"), HasSubstr("in time")));
}

TEST_F(ServerTest, AHeadThatDoesNotEndIs408WithoutABody) {
  Start(kQuick);
  const Client client(server_->port());
  client.Send("\r\nHEAD /a HTTP/1.1\r\nHost");
  EXPECT_THAT(client.ReceiveAll(),
              ::testing::AllOf(StartsWith("HTTP/1.1 408"), ::testing::EndsWith("\r\n\r\n")));
}

TEST_F(ServerTest, WhatTheServiceThrowsIs500) {
  EXPECT_THAT(Tell(With("GET /throw") + With("GET /a")),
              ::testing::AllOf(StartsWith("HTTP/1.1 500 "), HasSubstr("<GET /a >")));
}

TEST_F(ServerTest, WhoClosedOnlyTheirSideIsStillAnswered) {
  Start();
  const Client client(server_->port());
  client.Send(With("GET /wait"));
  client.SendNoMore();
  echo_.AnswerHeld();
  EXPECT_THAT(client.ReceiveAll(), HasSubstr("<GET /wait >"));
}

TEST_F(ServerTest, WhoIsGoneWhenTheAnswerComesHarmsNobody) {
  Start();
  {
    const Client client(server_->port());
    client.Send(With("GET /wait"));
    const auto answer = echo_.TakeHeld();
    client.SendNoMore();
    answer();
  }
  echo_.AwaitClients(0);
  EXPECT_THAT(Tell(With("GET /")), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, TellsHowManyRequestsItServesAndWhoseClientsHaveLeft) {
  Start();
  auto leaves = std::make_optional<Client>(server_->port());
  leaves->Send(With("GET /wait"));
  const auto first = echo_.TakeHeld();
  const Echo::Alive of_first = echo_.alive();
  echo_.AwaitServing(1, 0);
  const Client stays(server_->port());
  stays.Send(With("GET /wait"));
  const auto second = echo_.TakeHeld();
  echo_.AwaitServing(2, 0);
  EXPECT_TRUE(*of_first);
  leaves.reset();
  echo_.AwaitServing(2, 1);
  EXPECT_FALSE(*of_first);
  EXPECT_TRUE(*echo_.alive());
  first();
  echo_.AwaitServing(1, 0);
  second();
  EXPECT_THAT(stays.ReceiveUntil(">"), HasSubstr("<GET /wait >"));
  echo_.AwaitServing(0, 0);
}

TEST_F(ServerTest, WithoutKeepAliveEachConnectionCarriesOneRequest) {
  Start({.keep_alive = false});
  const std::string answer = Tell(With("GET /a") + With("GET /b"));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(CountOf("HTTP/1.1 ", answer), 1u);
}

TEST_F(ServerTest, AStopFinishesWhatIsUnderWayAndClosesTheRest) {
  Start({.stop_time = 100ms});
  const Client asks(server_->port()), idle(server_->port()), halfway(server_->port());
  halfway.Send("GET / HT");
  asks.Send(With("GET /wait"));
  const auto answer = echo_.TakeHeld();
  server_->Stop();
  EXPECT_EQ(idle.ReceiveAll(), "");
  EXPECT_THAT(halfway.ReceiveAll(), StartsWith("HTTP/1.1 408 "));
  EXPECT_FALSE(server_->stopped());
  answer();
  const std::string last = asks.ReceiveAll();
  EXPECT_THAT(last, HasSubstr("<GET /wait >"));
  EXPECT_THAT(last, HasSubstr("Connection: close\r\n"));
  while (!server_->stopped()) std::this_thread::yield();
  EXPECT_FALSE(Client(server_->port()).connected());
}

TEST_F(ServerTest, DoesNotShareItsPortAndGivesItBack) {
  const uint16_t port = Start().port();
  try {
    const Server second("127.0.0.1", port, {}, echo_);
    FAIL() << "two servers listen on port " << port;
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot listen on 127.0.0.1:"));
    EXPECT_THAT(error.what(), HasSubstr("Address already in use"));
  }
  server_.reset();
  EXPECT_EQ(Server("127.0.0.1", port, {}, echo_).port(), port);
}

TEST_F(ServerTest, SaysWhatItCannotListenOn) {
  try {
    const Server server("no.such.host.invalid", 1, {}, echo_);
    FAIL() << "there is no such host";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot listen on no.such.host.invalid:1: "));
  }
}

}  // namespace
}  // namespace fanline::http
