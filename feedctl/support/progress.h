// The progress of a long command on stderr: a bar on a terminal, else a line now and then.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include "fanline/base/mono_now.h"
#include "fanline/base/time.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {

class Progress {
 public:
  // "import: 250,000 of 1,017,674 rows". `total` 0: unknown.
  Progress(std::string what, std::string unit, uint64_t total)
      : what_(std::move(what)),
        unit_(std::move(unit)),
        terminal_(isatty(STDERR_FILENO) != 0),
        begin_(MonoNow()),
        total_(total),
        next_draw_(begin_ + (terminal_ ? kRedrawEvery : kLineEvery)) {}
  // Clears the bar.
  ~Progress() {
    if (terminal_ && drawn_) std::fputs("\r\x1b[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Any thread; cheap enough for every item.
  void At(uint64_t done) {
    const Time now = MonoNow();
    const std::lock_guard lock(mutex_);
    if (now >= next_draw_) Draw(done, now);
  }
  void SetTotal(uint64_t total) {
    const std::lock_guard lock(mutex_);
    total_ = total;
  }

 private:
  static constexpr Duration kRedrawEvery = std::chrono::milliseconds(100);
  static constexpr Duration kLineEvery = std::chrono::seconds(1);
  static constexpr uint64_t kBarWidth = 30;

  static std::string Bar(uint64_t done, uint64_t total) {
    const uint64_t full = std::min(kBarWidth, done * kBarWidth / total);
    return "[" + std::string(full, '#') + std::string(kBarWidth - full, ' ') + "] ";
  }
  // Under mutex_.
  void Draw(uint64_t done, Time now) {
    next_draw_ = now + (terminal_ ? kRedrawEvery : kLineEvery);
    drawn_ = true;
    const std::string line = Line(done, now);
    std::fprintf(stderr, terminal_ ? "\r\x1b[K%s" : "%s\n", line.c_str());
  }
  std::string Line(uint64_t done, Time now) const {
    std::string line = what_ + ": ";
    if (terminal_ && total_ > 0) line += Bar(done, total_);
    line += Grouped(done);
    if (total_ > 0) line += " of " + Grouped(total_);
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    line += " " + unit_;
    if (seconds > 0) {
      line += ", " + Grouped(static_cast<uint64_t>(static_cast<double>(done) / seconds)) + "/s";
    }
    return line;
  }

  const std::string what_;
  const std::string unit_;
  const bool terminal_;
  const Time begin_;
  std::mutex mutex_;
  uint64_t total_;    // under mutex_
  Time next_draw_{};  // under mutex_
  bool drawn_ = false;
};

}  // namespace fanline::feedctl
