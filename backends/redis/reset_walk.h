// Carries out ResetRange: walks over all keys of the node to find the timelines of the buckets. One
// walk serves all resets that wait when it begins (after a restart of Redis every range asks for
// one). Resets that come during a walk take the next.
//
//   reset_begin  before the walk: deletes the index of the buckets to drop and marks the index of
//                all as pending. Timelines created from then on list themselves for good.
//   SCAN         page by page: reset_page drops or lists the timelines found
//   reset_end    after the walk: writes headers and, at a takeover, positions
//
// One thread, the node's; destroyed with the connection.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "backends/redis/client/command_channel.h"

namespace fanline::redis {

class ResetWalk {
 public:
  ResetWalk(CommandChannel& channel, const Options& options, const RangeLayout& layout);

  void Add(ResetRange request, Answer<RangeReset> answer);

 private:
  struct Reset {
    ResetRange request;
    Answer<RangeReset> answer;
    RangeReset reply;
    bool failed = false;
  };
  enum class Fate { kNone, kDrop, kIndex };
  struct Plan {  // of a bucket, during a walk
    Reset* reset = nullptr;
    Fate fate = Fate::kNone;
  };

  void StartIfIdle();
  void Begin(Reset& reset);
  void Scan();
  void TakePage(const redisReply& page);
  void SendPage(Reset& reset, std::vector<std::string> keys);
  void StepDone();  // one of the calls of the current step was answered
  void End(Reset& reset);
  void Fail(Reset& reset, const CallResult& result);
  void FailAll(const CallResult& result);
  void Finish();
  void AnswerAll();

  CommandChannel& channel_;
  const Options& options_;
  const RangeLayout& layout_;
  std::deque<std::unique_ptr<Reset>> waiting_;
  std::vector<std::unique_ptr<Reset>> walking_;
  std::array<Plan, kBuckets> plans_{};
  std::string cursor_ = "0";
  size_t outstanding_ = 0;                    // calls of the current step
  void (ResetWalk::*next_step_)() = nullptr;  // once all of them are answered
};

}  // namespace fanline::redis
