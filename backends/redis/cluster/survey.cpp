#include "backends/redis/cluster/survey.h"

#include <algorithm>
#include <utility>

#include "backends/redis/client/reply.h"
#include "fanline/base/mono_now.h"

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

Survey::Line::Line(Endpoint to, const Options& options)
    : node(std::move(to)), connection(options), take([this](const redisReply& reply) {
        answers.push_back(AnswerOf(reply));
        return Status::Done();
      }) {}

Survey::Survey(std::function<Options(const Endpoint&)> options_of, CommandBuffer questions,
               size_t count)
    : options_of_(std::move(options_of)), questions_(std::move(questions)), count_(count) {}

void Survey::Begin(const std::vector<Endpoint>& at_once, std::vector<Endpoint> in_a_row) {
  End();
  row_.assign(in_a_row.begin(), in_a_row.end());
  next_in_row_ = MonoNow() + (at_once.empty() ? Duration::zero() : kPatience);
  for (const Endpoint& node : at_once) Ask(node);
}

void Survey::Ask(const Endpoint& node) {
  auto& line = lines_[ToString(node)];
  if (!line) line = std::make_unique<Line>(node, options_of_(node));
  if (line->asked) return;
  line->asked = true;
  asked_.push_back(line.get());
  line->kept = line->connection.open();
  Put(*line);
}

void Survey::Put(Line& line) {
  line.answers.clear();
  line.connection.Begin(questions_, count_, line.take);
}

std::optional<Survey::Heard> Survey::Next(Time until) {
  while (true) {
    const Time now = MonoNow();
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
  const std::optional<Status> ended = line.connection.Look(now);
  if (!ended) return std::nullopt;
  if (!ended->done() && std::exchange(line.kept, false) && !line.connection.silent()) {
    Put(line);  // closed since the earlier survey
    return Look(line, now);
  }
  line.heard = true;
  return Heard{line.node, *ended, std::move(line.answers)};
}

void Survey::Wait(Time until) const {
  std::vector<const BlockingConnection*> open;
  for (const Line* line : asked_) {
    if (!line->heard) open.push_back(&line->connection);
  }
  BlockingConnection::Await(open, until);
}

std::vector<Endpoint> Survey::Silent() const {
  std::vector<Endpoint> silent;
  for (const Line* line : asked_) {
    if (!line->heard) silent.push_back(line->node);
  }
  return silent;
}

void Survey::End() {
  if (asked_.empty()) return;
  for (Line* line : asked_) {
    if (!line->heard) line->connection.Close();
  }
  std::erase_if(lines_, [](const auto& entry) {
    return !entry.second->asked || !entry.second->connection.open();
  });
  for (const auto& [address, line] : lines_) line->asked = line->heard = false;
  asked_.clear();
}

}  // namespace fanline::redis
