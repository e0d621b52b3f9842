#include "daemon/run/supervisor.h"

#include <algorithm>

namespace fanline::daemon {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds(1);
constexpr size_t kMostBytes = 1'000;

// A loop that turns this often, and reports when it is due, is heard twice within the watchdog's
// time.
Duration Every(std::optional<Duration> watchdog) {
  return watchdog ? std::min(kLookEvery, *watchdog / 4) : kLookEvery;
}

bool ContinuesACharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

Supervisor::Supervisor(Tell tell, std::optional<Duration> watchdog, const Health& health)
    : tell_(std::move(tell)), watchdog_(watchdog), every_(Every(watchdog)), health_(health) {}

void Supervisor::Waits() { Say(false); }

void Supervisor::Turned(Time now) {
  runs_ = true;
  if (now < look_at_) return;
  look_at_ = now + every_;
  Say(watchdog_.has_value());
}

void Supervisor::Stops(Duration at_most) {
  stops_within_ = at_most;
  look_at_ = {};
}

void Supervisor::Say(bool alive) {
  const Report now{
      .ready = runs_, .stopping = stops_within_.has_value(), .status = OneLine(health_.Summary())};
  std::string message;
  if (now.ready && !reported_.ready) message += "READY=1\n";
  if (now.stopping && !reported_.stopping) {
    message += "STOPPING=1\nEXTEND_TIMEOUT_USEC=" + std::to_string(stops_within_->count()) + '\n';
  }
  if (now.status != reported_.status) message += "STATUS=" + now.status + '\n';
  if (alive) message += "WATCHDOG=1\n";
  if (message.empty() || !tell_(message)) return;
  reported_ = now;
}

std::string OneLine(std::string_view text) {
  size_t bytes = std::min(text.size(), kMostBytes);
  while (bytes < text.size() && bytes > 0 && ContinuesACharacter(text[bytes])) --bytes;
  std::string line(text.substr(0, bytes));
  std::replace_if(
      line.begin(), line.end(),
      [](char byte) { return static_cast<unsigned char>(byte) < ' ' || byte == '\x7F'; }, ' ');
  return line;
}

}  // namespace fanline::daemon
