// Answers of scripts, in whatever shape. An input is a list of nodes, one a line: "$text",
// "+status",
// "-error", ":7", "_" (nil), and "*2", an array of the next two.
#include <deque>

#include "backends/redis/batch_job.h"
#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/requests.h"
#include "backends/redis/reset_walk.h"
#include "fanline/base/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

using namespace fanline;
using namespace fanline::redis;

namespace {

// Owns the trees that it reads.
class Replies {
 public:
  explicit Replies(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  redisReply* Next(int depth = 0) {
    const std::string_view line = fuzz::TakeLine(rest_);
    redisReply& reply = nodes_.emplace_back();
    reply = {};
    reply.type = REDIS_REPLY_NIL;
    if (line.empty()) return &reply;
    switch (line[0]) {
      case '$':
        return WithText(reply, REDIS_REPLY_STRING, line);
      case '+':
        return WithText(reply, REDIS_REPLY_STATUS, line);
      case '-':
        return WithText(reply, REDIS_REPLY_ERROR, line);
      case ':':
        reply.type = REDIS_REPLY_INTEGER;
        reply.integer = ParseNumber<long long>(line.substr(1)).value_or(0);
        return &reply;
      case '*':
        return depth < 4 ? WithElements(reply, line, depth) : &reply;
      default:
        return &reply;
    }
  }

 private:
  redisReply* WithText(redisReply& reply, int type, std::string_view line) {
    std::string& text = texts_.emplace_back(line.substr(1));
    reply.type = type;
    reply.str = text.data();
    reply.len = text.size();
    return &reply;
  }
  redisReply* WithElements(redisReply& reply, std::string_view line, int depth) {
    reply.type = REDIS_REPLY_ARRAY;
    const size_t count = ParseNumber<size_t>(line.substr(1)).value_or(0);
    std::vector<redisReply*> elements;
    while (elements.size() < count && !done()) elements.push_back(Next(depth + 1));
    reply.elements = elements.size();
    reply.element = arrays_.emplace_back(std::move(elements)).data();
    return &reply;
  }

  std::string_view rest_;
  std::deque<redisReply> nodes_;
  std::deque<std::string> texts_;
  std::deque<std::vector<redisReply*>> arrays_;
};

// The script's answer, or one that is tried again.
void CheckStatus(const Status& status) {
  FANLINE_CHECK(status.done() || (status.later() && !status.message.empty()), "done or later");
}

void CheckReply(const redisReply& reply) {
  const RangeLayout layout(16);
  const RangeClaimed claimed = Parse(ClaimRange{}, reply, layout);
  CheckStatus(claimed.status);
  FANLINE_CHECK(claimed.status.done() || claimed.refused_by == 0, "an answer or none");
  const NewsRead news = Parse(ReadNews{}, reply, layout);
  CheckStatus(news.status);
  FANLINE_CHECK(news.status.done() || news.announced.empty(), "all of an answer or none");
  for (const auto& [reader, number] : news.announced) {
    FANLINE_CHECK(IsValidId(Raw(reader)) && number > 0, "readers and their numbers");
  }
  CheckStatus(Parse(SavePosition{}, reply, layout).status);
  const SyncApplied applied = Parse(ApplySync{}, reply, layout);
  CheckStatus(applied.status);
  FANLINE_CHECK(!(applied.live && applied.full), "live or deleted");
  const MutesSet set = Parse(SetMutes{}, reply, layout);
  CheckStatus(set.status);
  FANLINE_CHECK(!(set.live && set.full), "live or deleted");
  CheckStatus(Parse(DropTimeline{}, reply, layout).status);
  CheckStatus(Parse(MarkPart{}, reply, layout).status);
}

// Answers each call with the next reply of the input, and with nil once there is none left.
class Server : public CommandChannel {
 public:
  explicit Server(std::string_view text) : replies_(text) {}

  void Call(CommandBuffer command, Done done) override {
    FANLINE_CHECK(command.bytes().starts_with('*'), "a command");
    waiting_.push_back(std::move(done));
  }
  void AnswerAll() {
    while (!waiting_.empty()) {
      const Done done = std::move(waiting_.front());
      waiting_.pop_front();
      const redisReply* reply = replies_.Next();
      if (IsError(*reply)) {
        const ErrorMeaning meaning = MeaningOf(Text(*reply));
        const bool needs_claim = meaning.action == ErrorAction::kNeedsClaim;
        done({StatusOf(meaning, Text(*reply)), needs_claim, nullptr});
      } else {
        done({Status::Done(), false, reply});
      }
    }
  }

 private:
  Replies replies_;
  std::deque<Done> waiting_;
};

void CheckBatch(std::string_view text, const Options& options, const Keys& keys) {
  TimelineBatch batch{.epoch = 1};
  for (uint32_t i = 0; i < 5; ++i) {
    batch.writes.push_back({.reader = UserId{i + 1}, .adds_end = i + 1, .removes_end = i + 1});
    batch.adds.push_back({PostId{i + 7}, 1'700'000'000'000, UserId{i + 3}});
    batch.removes.push_back({PostId{i + 70}, 0, UserId{i + 3}});
  }
  Server server(text);
  int answers = 0;
  const auto job =
      std::make_shared<BatchJob>(batch, options, keys, [&](const BatchWritten& written) {
        ++answers;
        FANLINE_CHECK(written.results.size() == batch.writes.size(), "a result for every write");
        FANLINE_CHECK(written.status.done() || !written.status.message.empty(), "or a reason");
      });
  for (bool more = true; more;) {
    job->StartCall(server, [&more](bool left) { more = left; });
    server.AnswerAll();
  }
  FANLINE_CHECK(answers == 1, "one answer to a batch");
}

void CheckReset(std::string_view text, const Options& options, const Keys& keys) {
  Server server(text);
  ResetWalk walk(server, options, keys);
  int answers = 0;
  const auto answer = [&](const RangeReset& reset) {
    ++answers;
    FANLINE_CHECK(reset.status.done() || !reset.status.message.empty(), "done, or a reason");
  };
  walk.Add({0, 0, 1, ResetRange::Timelines::kDrop, std::nullopt}, answer);
  walk.Add({0, 1, 1, ResetRange::Timelines::kIndex, AppliedPosition{1, 10}}, answer);
  server.AnswerAll();
  FANLINE_CHECK(answers == 2, "one answer to a reset");
}

}  // namespace

FUZZ_TARGET(redis_replies) {
  static const Options options{.timelines_per_call = 1};
  static const Keys keys(options);
  for (Replies replies(bytes); !replies.done();) CheckReply(*replies.Next());
  CheckBatch(bytes, options, keys);
  CheckReset(bytes, options, keys);
}
