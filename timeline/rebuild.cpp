#include "timeline/rebuild.h"

namespace fanline::timeline {

Rebuild::Rebuild(WindowLimits window, std::function<std::string()> next_token,
                 std::optional<UserId> own, uint32_t attempts, uint32_t items_per_read,
                 const MutationSwitches& guards)
    : limits_{window.window, window.spare(), items_per_read},
      next_token_(std::move(next_token)),
      own_(guards.rebuilds_own ? own : std::nullopt),
      marks_(guards.rebuilds_mark),
      attempts_left_(attempts),
      pull_(NewPull()) {
  StartAttempt();
}

void Rebuild::StartAttempt() {
  if (attempts_left_ == 0) {
    result_ = RebuildResult::kGaveUp;
    return;
  }
  --attempts_left_;
  begun_ = false;
  token_ = next_token_();
  pull_ = NewPull();
}

RebuildNeed Rebuild::needed() const {
  if (result_ != RebuildResult::kUnderWay) return NothingNeeded{};
  if (!begun_) return NeedBegin{token_};
  if (pull_.done()) {
    return NeedFinish{token_, pull_.items(), pull_.floor(),
                      marks_ ? pull_.marked() : std::vector<UserId>{}};
  }
  return std::visit([](const auto& need) { return RebuildNeed(need); }, pull_.needed());
}

void Rebuild::OnBegun(RebuildBegun begun) {
  switch (begun) {
    case RebuildBegun::kCreated:
      begun_ = true;
      return;
    case RebuildBegun::kBusy:
      result_ = RebuildResult::kBusy;
      return;
    case RebuildBegun::kAlreadyReady:
      result_ = RebuildResult::kAlreadyReady;
      return;
    case RebuildBegun::kRefused:
      result_ = RebuildResult::kRefused;
      return;
  }
}

void Rebuild::OnFinished(bool applied) {
  if (applied) {
    result_ = RebuildResult::kRebuilt;
  } else {
    StartAttempt();
  }
}

}  // namespace fanline::timeline
