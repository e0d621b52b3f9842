#include "tests/integration/redis/redis_world.h"

#include <cstdlib>
#include <sstream>

#include "backends/redis/client/reply.h"
#include "fanline/base/check.h"

namespace fanline::redis::testing {
namespace {

constexpr std::chrono::seconds kPatience{10};

std::string TextOfReply(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_NIL:
      return "(nil)";
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply.integer);
    case REDIS_REPLY_ERROR:
      return "(error) " + std::string(Text(reply));
    case REDIS_REPLY_ARRAY: {
      std::string joined;
      for (size_t i = 0; i < reply.elements; ++i) {
        joined += (i == 0 ? "" : " ") + TextOfReply(At(reply, i));
      }
      return joined;
    }
    default:
      return std::string(Text(reply));
  }
}

CommandBuffer CommandOf(const std::vector<std::string>& words) {
  CommandBuffer command;
  command.Begin(words.size());
  for (const std::string& word : words) command.Arg(word);
  return command;
}

}  // namespace

Options OptionsFromEnvironment() {
  const char* text = std::getenv("FANLINE_REDIS");
  FANLINE_CHECK(text != nullptr, "FANLINE_REDIS is not set: run this under stack/with-stack");
  Options options;
  options.seeds.clear();
  std::istringstream seeds(text);
  for (std::string seed; std::getline(seeds, seed, ',');) {
    const auto address = ParseEndpoint(seed);
    FANLINE_CHECK(address.has_value(), "FANLINE_REDIS is host:port,...");
    options.seeds.push_back(*address);
  }
  options.reconnect = {std::chrono::milliseconds(5), std::chrono::milliseconds(50)};
  return options;
}

std::string Console::Run(const std::vector<std::string>& words) {
  std::string text;
  const Status status = connection_.PipelineRaw(CommandOf(words), 1, [&](const redisReply& reply) {
    text = TextOfReply(reply);
    return Status::Done();
  });
  return status.done() ? text : "(away) " + status.message;
}

std::vector<std::string> Console::List(const std::vector<std::string>& words) {
  std::vector<std::string> list;
  const Status status = connection_.PipelineRaw(CommandOf(words), 1, [&](const redisReply& reply) {
    for (size_t i = 0; i < reply.elements; ++i) list.push_back(TextOfReply(At(reply, i)));
    return Status::Done();
  });
  FANLINE_CHECK(status.done(), "redis does not answer");
  return list;
}

Driver::Driver(const Options& options)
    : adapter_(options,
               [this](LogLevel, const std::string& message) {
                 const std::lock_guard lock(mutex_);
                 log_ += message + '\n';
               },
               {.on_away =
                    [this](const std::vector<RangesAway>& away) {
                      const std::lock_guard lock(mutex_);
                      connected_ = away.empty();
                      why_not_ = away.empty() ? "" : away.front().reason;
                      times_connected_ += connected_;
                      changed_.notify_all();
                    },
                .on_left_migrating =
                    [this](size_t ranges) {
                      const std::lock_guard lock(mutex_);
                      left_migrating_ = ranges;
                    }}) {}

template <class Condition>
void Driver::Wait(std::unique_lock<std::mutex>& lock, const char* what, Condition condition) {
  FANLINE_CHECK(changed_.wait_for(lock, kPatience, condition), what);
}

void Driver::WaitUntilConnected(bool connected) {
  std::unique_lock lock(mutex_);
  Wait(lock, "the connection did not change", [&] { return connected_ == connected; });
}

std::string Driver::WhyNotConnected() {
  std::unique_lock lock(mutex_);
  Wait(lock, "nobody says why it is not connected", [&] { return !why_not_.empty(); });
  return why_not_;
}

void Driver::WaitForConnection(size_t more_than) {
  std::unique_lock lock(mutex_);
  Wait(lock, "the connection was not made again", [&] { return times_connected_ > more_than; });
}

size_t Driver::left_migrating() const {
  const std::lock_guard lock(mutex_);
  return left_migrating_;
}

std::string Driver::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

size_t Driver::times_connected() const {
  const std::lock_guard lock(mutex_);
  return times_connected_;
}

BatchOf& BatchOf::Write(UserId reader, std::vector<Item> adds, std::vector<Item> removes,
                        std::vector<Mark> marks) {
  batch_.marks.insert(batch_.marks.end(), marks.begin(), marks.end());
  batch_.adds.insert(batch_.adds.end(), adds.begin(), adds.end());
  batch_.removes.insert(batch_.removes.end(), removes.begin(), removes.end());
  batch_.writes.push_back({reader, static_cast<uint32_t>(batch_.adds.size()),
                           static_cast<uint32_t>(batch_.removes.size()),
                           static_cast<uint32_t>(batch_.marks.size())});
  return *this;
}

}  // namespace fanline::redis::testing
