#include "backends/redis/cluster/survey.h"

#include <poll.h>

#include <algorithm>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/sign_in.h"
#include "backends/redis/client/silent_nodes.h"

namespace fanline::redis {
namespace {

Survey::Answer AnswerOf(const redisReply& reply) {
  Survey::Answer answer;
  (IsError(reply) ? answer.error : answer.text) = Text(reply);
  for (size_t i = 0; IsArray(reply, i + 1); ++i) answer.items.emplace_back(Text(At(reply, i)));
  return answer;
}

}  // namespace

Status RefusedBy(const Survey::Answer& answer) {
  return StatusOf(MeaningOf(answer.error), answer.error);
}

Survey::Survey(std::function<Options(const Endpoint&)> options_of, CommandBuffer questions,
               size_t count)
    : options_of_(std::move(options_of)), questions_(std::move(questions)), count_(count) {}
Survey::~Survey() = default;

void Survey::Begin(const std::vector<Endpoint>& at_once, std::vector<Endpoint> in_a_row) {
  End();
  row_.assign(in_a_row.begin(), in_a_row.end());
  next_in_row_ = Now() + (at_once.empty() ? Duration::zero() : kPatience);
  for (const Endpoint& node : at_once) Ask(node);
}

void Survey::Ask(const Endpoint& node) {
  auto& line = lines_[ToString(node)];
  if (!line) line = std::make_unique<Line>(options_of_(node));
  if (line->asked) return;
  line->asked = true;
  asked_.push_back(line.get());
  line->kept = line->connection != nullptr;
  Put(*line);
}

void Survey::Put(Line& line) {
  line.answers.clear();
  line.refused.clear();
  const auto& rests = line.options.silent_nodes;
  const Duration patience = line.options.connect_timeout + line.options.command_timeout;
  if (rests && !rests->MayAsk(line.options.address, patience)) {
    line.refused = "does not answer, and is left alone a while";
    line.connection.reset();  // so that Fail reports nothing about the node
    return;
  }
  const Time now = Now();
  if (!line.connection) {
    line.connection = std::make_unique<PipelinedConnection>(line.options);
    CommandBuffer auth;
    line.refused = EncodeSignIn(line.options, auth);
    if (!line.refused.empty()) return;
    if (!auth.empty()) {
      line.connection->out().Append(auth);
      line.connection->Expect(
          [&line](const redisReply& reply) {
            if (IsError(reply)) line.refused = RefusedBy(AnswerOf(reply)).message;
          },
          now);
    }
  }
  line.connection->out().Append(questions_);
  for (size_t i = 0; i < count_; ++i) {
    line.connection->Expect(
        [&line](const redisReply& reply) { line.answers.push_back(AnswerOf(reply)); }, now);
  }
}

std::optional<Survey::Heard> Survey::Next(Time until) {
  while (true) {
    const Time now = Now();
    AskFromRow(now);
    bool open = false;
    for (size_t i = 0; i < asked_.size(); ++i) {
      if (asked_[i]->heard) continue;
      if (auto heard = Look(*asked_[i], now)) {
        next_in_row_ = now;
        return heard;
      }
      open = true;
    }
    if (now >= until || (!open && row_.empty())) return std::nullopt;
    Wait(row_.empty() ? until : std::min(until, next_in_row_));
  }
}

void Survey::AskFromRow(Time now) {
  if (row_.empty() || now < next_in_row_) return;
  const Endpoint node = row_.front();
  row_.pop_front();
  next_in_row_ = now + kPatience;
  Ask(node);
}

std::optional<Survey::Heard> Survey::Look(Line& line, Time now) {
  if (!line.refused.empty()) return Fail(line, line.refused, false);
  if (!line.connection->Pump(now)) {
    const bool silent = now >= line.connection->deadline();
    if (!line.kept || silent) return Fail(line, line.connection->failure(), silent);
    line.kept = false;  // closed since the earlier survey
    line.connection.reset();
    Put(line);
    return Look(line, now);
  }
  if (!line.refused.empty()) return Fail(line, line.refused, false);
  if (line.answers.size() < count_) return std::nullopt;
  line.heard = true;
  if (line.options.silent_nodes) line.options.silent_nodes->Answered(line.options.address);
  return Heard{line.options.address, Status::Done(), std::move(line.answers)};
}

Survey::Heard Survey::Fail(Line& line, std::string why, bool silent) {
  const Endpoint& node = line.options.address;
  if (line.options.silent_nodes && line.connection) {
    silent ? line.options.silent_nodes->Silent(node) : line.options.silent_nodes->Answered(node);
  }
  line.heard = true;
  line.connection.reset();
  return {node, Lost(node, why, line.options.tls.on()), {}};
}

void Survey::Wait(Time until) const {
  std::vector<pollfd> open;
  for (const Line* line : asked_) {
    if (line->heard || !line->connection) continue;
    open.push_back({line->connection->fd(), line->connection->events(), 0});
    until = std::min(until, line->connection->deadline());
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Now()).count();
  poll(open.data(), open.size(), static_cast<int>(std::clamp<int64_t>(left + 1, 0, 1000)));
}

std::vector<Endpoint> Survey::Silent() const {
  std::vector<Endpoint> silent;
  for (const Line* line : asked_) {
    if (!line->heard) silent.push_back(line->options.address);
  }
  return silent;
}

void Survey::End() {
  if (asked_.empty()) return;
  for (Line* line : asked_) {
    if (!line->heard) line->connection.reset();
  }
  std::erase_if(lines_, [](const auto& entry) {
    return !entry.second->asked || entry.second->connection == nullptr;
  });
  for (const auto& [address, line] : lines_) line->asked = line->heard = false;
  asked_.clear();
}

}  // namespace fanline::redis
