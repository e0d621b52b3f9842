// Reports a daemon to a supervisor that speaks systemd's protocol (sd_notify(3)):
//   READY=1      the loop turns for the first time: the services were there, and all agreed
//   STATUS=      what /readyz says, in words: shown by systemctl status; also before the loop turns
//   WATCHDOG=1   the loop still turns. Nobody else says so, so a loop that stands still is noticed
//   STOPPING=1   a stop was requested, and how long it may take (EXTEND_TIMEOUT_USEC)
// If a service is away a daemon is not ready, but its loop turns on: it is not restarted for that.
// Before READY=1 no supervisor expects WATCHDOG=1.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/observe/health.h"
#include "fanline/base/time.h"

namespace fanline::daemon {

// One thread: the loop's.
class Supervisor {
 public:
  // Returns whether the message was sent; else it is sent again later. Must not block.
  using Tell = std::function<bool(const std::string& message)>;

  // `watchdog`: how long the supervisor waits for a WATCHDOG=1; none: it does not wait. `health`
  // must outlive this object.
  Supervisor(Tell tell, std::optional<Duration> watchdog, const Health& health);

  // The loop has to turn at least this often.
  [[nodiscard]] Duration every() const { return every_; }

  // Before the loop turns: the program waits for something that health names.
  void Waits();

  // The loop turned at `now`. Sends at most one message per every().
  void Turned(Time now);

  // The program now stops, within `at_most`; sent at the next turn.
  void Stops(Duration at_most);

 private:
  // What the supervisor was told last; Say sends what differs.
  struct Report {
    bool ready = false;
    bool stopping = false;
    std::string status;
  };
  void Say(bool alive);

  const Tell tell_;
  const std::optional<Duration> watchdog_;
  const Duration every_;
  const Health& health_;
  bool runs_ = false;
  std::optional<Duration> stops_within_;
  Report reported_;
  Time look_at_{};
};

// `text` as one line of a message: without control characters, of at most 1,000 bytes, cut between
// characters (the supervisor drops what is no UTF-8, and messages of more than 4 KB).
[[nodiscard]] std::string OneLine(std::string_view text);

}  // namespace fanline::daemon
