#include "daemon/signals.h"

#include <unistd.h>

#include <atomic>

#include "fanline/base/check.h"

namespace fanline::daemon {
namespace {

// A handler gets no object as an argument, and may touch only lock-free atomics.
std::atomic<const Wakeup*> g_wakeup = nullptr;
std::atomic<int> g_signals = 0;
static_assert(std::atomic<const Wakeup*>::is_always_lock_free);
static_assert(std::atomic<int>::is_always_lock_free);

void OnSignal(int signal) {
  if (g_signals.fetch_add(1) > 0) _exit(128 + signal);
  if (const Wakeup* wakeup = g_wakeup.load()) wakeup->Notify();
}

}  // namespace

StopOnSignal::StopOnSignal(const Wakeup& wakeup) {
  const Wakeup* before = g_wakeup.exchange(&wakeup);
  FANLINE_CHECK(before == nullptr, "one StopOnSignal per process");
  g_signals = 0;
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;  // calls of client libraries go on; the Wakeup ends ours
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, &old_term_);
  sigaction(SIGINT, &action, &old_int_);
}

StopOnSignal::~StopOnSignal() {
  sigaction(SIGTERM, &old_term_, nullptr);
  sigaction(SIGINT, &old_int_, nullptr);
  g_wakeup = nullptr;
}

bool StopOnSignal::requested() const noexcept { return g_signals.load() > 0; }

}  // namespace fanline::daemon
