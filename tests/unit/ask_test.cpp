#include "fanline/ports/ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

namespace fanline {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Double {
  using Reply = struct Doubled;
  uint64_t id = 0;
  int number = 0;
};
struct Doubled {
  uint64_t id = 0;
  int number = 0;
};

struct Server : Serves<Double> {
  void Submit(Double request, ReplyTo<Doubled> to) override { serve(request, to); }
  std::function<void(const Double&, ReplyTo<Doubled>)> serve;
};

struct Late {
  void Push(const Doubled& reply) { numbers.push_back(reply.number); }
  std::vector<int> numbers;
};

Doubled AnswerTo(const Double& request) { return {request.id, 2 * request.number}; }

TEST(Ask, TakesAnAnswerFromWithinTheCall) {
  Answers<Doubled> answers;
  Server server;
  server.serve = [](const Double& request, ReplyTo<Doubled> to) { to(AnswerTo(request)); };
  EXPECT_EQ(answers.Ask(server, Double{0, 4}).number, 8);
  EXPECT_EQ(answers.Ask(server, Double{0, 5}, 0us)->number, 10);
}

TEST(Ask, WaitsForAnAnswerFromAnotherThread) {
  Answers<Doubled> answers;
  Server server;
  std::thread worker;
  server.serve = [&](const Double& request, ReplyTo<Doubled> to) {
    worker = std::thread([request, to] { to(AnswerTo(request)); });
  };
  EXPECT_EQ(answers.Ask(server, Double{0, 4}).number, 8);
  worker.join();
}

TEST(Ask, WhoHasGivenUpHearsNothingAndNobodyElseTakesTheAnswerForTheirs) {
  Late late;
  Answers<Doubled> answers(late);
  Server server;
  std::vector<std::pair<Double, ReplyTo<Doubled>>> asked;
  server.serve = [&](const Double& request, ReplyTo<Doubled> to) {
    asked.emplace_back(request, to);
  };
  EXPECT_FALSE(answers.Ask(server, Double{0, 1}, 1us).has_value());
  server.serve = [&](const Double& request, ReplyTo<Doubled> to) {
    asked[0].second(AnswerTo(asked[0].first));
    to(AnswerTo(request));
  };
  EXPECT_EQ(answers.Ask(server, Double{0, 4}).number, 8);
  EXPECT_THAT(late.numbers, ElementsAre(2));
}

TEST(Ask, EachOfManyGetsItsOwnAnswer) {
  Late late;
  Answers<Doubled> answers(late);
  Server server;
  server.serve = [](const Double& request, ReplyTo<Doubled> to) { to(AnswerTo(request)); };
  std::vector<std::thread> askers;
  for (int number = 0; number < 8; ++number) {
    askers.emplace_back([&, number] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(answers.Ask(server, Double{0, number + i}).number, 2 * (number + i));
      }
    });
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_THAT(late.numbers, IsEmpty());
}

}  // namespace
}  // namespace fanline
