#include "feedctl/support/explain.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

// For a service that is away, adapters write "<what failed>: <why> (<name of the error>)". Returns
// why.
std::string WhyAway(const std::string& message) {
  const size_t colon = message.find(": ");
  std::string why = colon == std::string::npos ? message : message.substr(colon + 2);
  if (why.ends_with(')')) why.resize(std::min(why.size(), why.rfind(" (")));
  if (!why.empty()) why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return why;
}

// `place`: "Redis at r1:6379".
Explanation Line(const std::string& place, const Status& status) {
  const std::string at = place + ": ";
  const bool set_up = status.cause != Cause::kTurnedAway && status.cause != Cause::kNoLogin &&
                      status.cause != Cause::kSetting;
  Explanation line{.exit_code = set_up ? kExitUnavailable : kExitConfig,
                   .what = at + OneLine(status.message),
                   .advice = status.advice,
                   .silent = status.cause == Cause::kAway || status.cause == Cause::kTurnedAway};
  if (status.cause == Cause::kAway) {
    line.what = "cannot reach " + at + OneLine(WhyAway(status.message));
  } else if (status.cause == Cause::kFull) {
    line.what = at + "it is full (maxmemory), and takes no timeline";
    line.advice = "give it more memory, as FanlineRedisFull in " + DocsFolder() +
                  "/runbooks/delivery.md says, and type this again";
  }
  return line;
}

// The address of the node whose connection was lost, if the message is "redis <address>: <why>".
// Else the first one given.
std::string AddressOfRedis(const std::string& message, const Settings& settings) {
  constexpr std::string_view kHead = "redis ";
  if (message.starts_with(kHead)) {
    const std::string address = message.substr(kHead.size(), message.find(": ") - kHead.size());
    if (ParseEndpoint(address)) return address;
  }
  return settings.redis.seeds.empty() ? "" : settings.redis.seeds.front();
}

}  // namespace

std::string DocsFolder() {
  constexpr const char* kPackaged = "/usr/share/doc/feedctl/docs";  // packaging/CMakeLists.txt
  std::error_code ignored;
  return std::filesystem::exists(kPackaged, ignored) ? kPackaged : "docs";
}

Explanation ExplanationOf(const Status& status, const Settings& settings, int never_code) {
  if (status.never()) return {never_code, OneLine(status.message)};
  if (status.resource == "kafka") return Line("Kafka at " + settings.kafka.brokers, status);
  if (status.resource == "redis") {
    const std::string address = AddressOfRedis(status.message, settings);
    const std::string head = "redis " + address + ": ";
    Status said = status;
    if (status.cause != Cause::kAway && status.message.starts_with(head)) {
      said.message.erase(0, head.size());
    }
    return Line("Redis at " + address, said);
  }
  if (status.resource.starts_with("mysql_")) {
    return Line(options::ToConfig(settings.mysql).PlaceOf(status.resource), status);
  }
  return {kExitUnavailable, OneLine(status.message)};
}

Failure Explain(const Status& status, const Settings& settings, int never_code) {
  const Explanation told = ExplanationOf(status, settings, never_code);
  return Failure(told.exit_code, told.what + (told.advice.empty() ? "" : "; ") + told.advice);
}

void Require(const Status& status, const Settings& settings, int never_code) {
  if (!status.done()) throw Explain(status, settings, never_code);
}

void RequireFinished(const Status& status, const Settings& settings, const std::string& again) {
  if (status.done()) return;
  const Failure why = Explain(status, settings, kExitData);
  throw Failure(why.exit_code() == kExitUnavailable ? kExitTempFail : why.exit_code(),
                std::string(why.what()) + "; " + again);
}

}  // namespace fanline::feedctl
