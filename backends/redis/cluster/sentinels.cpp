#include "backends/redis/cluster/sentinels.h"

#include <string_view>
#include <utility>

#include "backends/redis/client/errors.h"
#include "fanline/base/number.h"

namespace fanline::redis {
namespace {

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

// Only the first question names a replica from the moment that it is promoted.
CommandBuffer SentinelQuestions(const std::string& master) {
  CommandBuffer questions;
  questions.Command("SENTINEL", "get-master-addr-by-name", master);
  questions.Command("SENTINEL", "master", master);
  return questions;
}

Status ReadWord(const Survey::Heard& heard, const std::string& master, SentinelWord* word) {
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
  return Mistaken(who + "it watches no master called " + master + "; set --redis-sentinel-master");
}

}  // namespace fanline::redis
