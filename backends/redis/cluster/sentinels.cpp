#include "backends/redis/cluster/sentinels.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/redis/client/errors.h"
#include "fanline/base/number.h"

namespace fanline::redis {
namespace {

// Only the first question names a replica from the moment that it is promoted.
CommandBuffer Questions(const std::string& master) {
  CommandBuffer questions;
  questions.Command("SENTINEL", "get-master-addr-by-name", master);
  questions.Command("SENTINEL", "master", master);
  return questions;
}

// [.., "config-epoch", "3", ..]
uint64_t EpochOf(const std::vector<std::string>& fields) {
  for (size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i] == "config-epoch") return ParseNumber<uint64_t>(fields[i + 1]).value_or(0);
  }
  return 0;
}

constexpr std::string_view kUnknownCommand = "ERR unknown command";

// Sentinels have their own name and password.
Status OfSentinel(Status status) {
  if (status.cause == Cause::kTurnedAway) {
    status.advice = "set --redis-sentinel-user and --redis-sentinel-password";
  } else if (status.cause == Cause::kNoLogin) {
    status.advice = "leave --redis-sentinel-password out, or give the Sentinels one";
  }
  return status;
}

}  // namespace

Sentinels::Sentinels(const Options& options)
    : master_(options.sentinel_master),
      sentinels_(options.seeds),
      survey_([options](const Endpoint& sentinel) { return options.AtSentinel(sentinel); },
              Questions(master_), 2) {}

Status Sentinels::AskOne(const Take& take) {
  survey_.Begin({}, sentinels_);
  return Hear(take, false);
}

Status Sentinels::AskAll(const Take& take) {
  survey_.Begin(sentinels_, {});
  return Hear(take, true);
}

Status Sentinels::Hear(const Take& take, bool most_are_enough) {
  std::vector<Endpoint> mute;
  Status failed;
  size_t answered = 0;
  Time until = Time::max();
  while (const auto heard = survey_.Next(until)) {
    Word word;
    if (const Status status = ReadWord(*heard, &word); !status.done()) {
      failed = status;
      mute.push_back(heard->node);
      continue;
    }
    ++answered;
    if (!take(word)) break;
    if (most_are_enough && 2 * answered > sentinels_.size()) {
      until = std::min(until, Survey::Now() + Survey::kGrace);
    }
  }
  const std::vector<Endpoint> silent = survey_.Silent();
  mute.insert(mute.end(), silent.begin(), silent.end());
  survey_.End();
  PutLast(mute);
  return answered > 0 ? Status::Done() : failed;
}

void Sentinels::PutLast(const std::vector<Endpoint>& mute) {
  std::stable_partition(sentinels_.begin(), sentinels_.end(), [&](const Endpoint& sentinel) {
    return std::find(mute.begin(), mute.end(), sentinel) == mute.end();
  });
}

Status Sentinels::ReadWord(const Survey::Heard& heard, Word* word) const {
  if (!heard.status.done()) return OfSentinel(heard.status);
  const std::string who = "Sentinel " + ToString(heard.node) + ": ";
  const Survey::Answer& address = heard.answers[0];
  if (address.error.starts_with(kUnknownCommand)) {
    Status status = Mistaken("it is no Sentinel: " + who + address.error);
    status.advice = "leave --redis-sentinel-master out, or name Sentinels by --redis";
    return status;
  }
  if (!address.error.empty()) {
    const Status refused = RefusedBy(address);
    Status status = Away(who + refused.message);
    status.cause = refused.cause;
    status.advice = refused.advice;
    return OfSentinel(std::move(status));
  }
  if (address.items.size() == 2) {
    if (const auto port = ParseNumber<uint16_t>(address.items[1])) {
      *word = {{address.items[0], *port}, EpochOf(heard.answers[1].items)};
      return Status::Done();
    }
  }
  return Mistaken(who + "it watches no master called " + master_ + "; set --redis-sentinel-master");
}

}  // namespace fanline::redis
