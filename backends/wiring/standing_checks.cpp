#include "backends/wiring/standing_checks.h"

#include "fanline/base/mono_now.h"

namespace fanline::wiring {

StandingChecks::~StandingChecks() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void StandingChecks::Begin() {
  thread_ = std::thread([this] { Run(); });
}

void StandingChecks::Run() {
  while (!StoppedWithin(every_)) {
    for (const Check& check : checks_) {
      if (StoppedWithin(Duration::zero())) return;
      Judge(check);
    }
  }
}

void StandingChecks::Judge(const Check& check) {
  const Status status = check.ask();
  if (status.never()) return process_.Refuse(status.message);
  if (status.later()) return ShowWaiting(process_, check.name, status);
  process_.health.SetReady(check.name, true);
}

bool StandingChecks::StoppedWithin(Duration wait) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, wait, [this] { return stop_; });
}

void ShowWaiting(daemon::Process& process, const std::string& what, const Status& status) {
  const std::string advice = status.advice;
  const std::string reason = status.message + (advice.empty() ? "" : "; ") + advice;
  process.health.SetReady(what, false, reason);
  process.log.WarnEvery(what, std::chrono::seconds(10), SystemNow().mono, "waiting for a service",
                        {{"service", what}, {"reason", reason}});
}

}  // namespace fanline::wiring
