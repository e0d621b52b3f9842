// Carries out ResetRange. To find the timelines of a range it walks over all keys of the node. One
// walk serves all resets that wait when it begins (after a restart of Redis every range asks for
// one). Resets that come during a walk wait for the next.
//
//   reset_begin  before the walk: a takeover marks the index as pending. Timelines created from
//                then on list themselves for good. A takeover that drops empties the index and
//                deletes pos: here, so that an unfinished drop is never forgotten.
//   SCAN         page by page: reset_page drops or lists the timelines found
//   reset_end    after the walk: a takeover marks the index as complete and writes the position
// A reset that leaves the timelines alone is only the last step, done at once. A walk ends early
// once all its resets have failed.
// A walk neither begins nor ends while a Cluster's slot is between two nodes, since SCAN sees the
// keys of only one. To ensure this, both steps name a key that never exists, so the node answers
// TRYAGAIN then. One thread, the node's; destroyed with the connection.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "backends/redis/client/command_channel.h"
#include "backends/redis/keys.h"

namespace fanline::redis {

class ResetWalk {
 public:
  // The arguments outlive the walk.
  ResetWalk(CommandChannel& channel, const Options& options, const Keys& keys);

  void Add(ResetRange request, Answer<RangeReset> answer);

 private:
  struct Reset {
    ResetRange request;
    Answer<RangeReset> answer;
    RangeReset reply;
    bool failed = false;
  };
  using Resets = std::map<Range, std::shared_ptr<Reset>>;
  struct Found {  // a page's timelines under one range's tag
    std::vector<std::string> drop, index;
  };

  void StartIfIdle();
  void Begin(const std::shared_ptr<Reset>& reset);
  void Scan();
  bool TakePage(const redisReply& page);
  void SendPage(const std::shared_ptr<Reset>& reset, const Found& found);
  void StepDone();  // a call of the current step was answered
  void End(const std::shared_ptr<Reset>& reset, std::function<void()> then);
  void Fail(Reset& reset, const CallResult& result);
  void FailAll(const CallResult& result);
  void Finish();
  void AnswerAll();

  CommandChannel& channel_;
  const Options& options_;
  const Keys& keys_;
  Resets waiting_, walking_;
  std::string cursor_ = "0";
  size_t outstanding_ = 0;                    // calls of the current step
  void (ResetWalk::*next_step_)() = nullptr;  // runs when all are answered
};

}  // namespace fanline::redis
