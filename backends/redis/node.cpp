#include "backends/redis/node.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "backends/redis/client/reply.h"
#include "backends/redis/client/scripts.h"
#include "backends/redis/installation_mark.h"
#include "backends/redis/requests.h"
#include "fanline/base/check.h"
#include "fanline/base/mono_now.h"

namespace fanline::redis {

Node::Node(const Options& options, uint32_t number, Events events, LogSink log)
    : options_(options),
      number_(number),
      keys_(options),
      events_(std::move(events)),
      log_(std::move(log)),
      wakeup_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      random_(std::random_device{}()) {
  FANLINE_CHECK(wakeup_ >= 0, "no event descriptor left");
  thread_ = std::thread([this] { Run(); });
}

Node::~Node() {
  Stop();
  close(wakeup_);
}

void Node::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  eventfd_write(wakeup_, 1);
  thread_.join();
}

void Node::Retire() {
  Stop();
  DropSession("redis " + ToString(options_.address) + ": serves no range any more");
  TakeRequests();
  DeliverReplies();
}

bool Node::Submit(Submission& submission, Residence residence) {
  const std::lock_guard lock(mutex_);
  if (unanswered_ >= options_.max_requests) return false;
  ++unanswered_;
  if (inbox_.empty()) eventfd_write(wakeup_, 1);
  inbox_.push_back({std::move(submission), residence});
  return true;
}

// ---- the thread -----------------------------------------------------------------------------

void Node::Run() {
  while (!stopping_) {
    now_ = MonoNow();
    if (!connection_ && now_ >= next_attempt_) Connect();
    TakeRequests();
    if (connection_) {
      if (ready_) {
        Beat();
        StartCalls();
      }
      if (!connection_->Pump(now_)) leave_ = leave_.empty() ? connection_->failure() : leave_;
      if (leave_.empty() && ready_) StartCalls();
      // What replies bring about travels while they are delivered.
      if (leave_.empty() && !connection_->Flush()) leave_ = connection_->failure();
      if (!leave_.empty()) Lose(leave_);
    }
    DeliverReplies();
    Wait();
  }
}

Time Node::NextMoment() const {
  if (!connection_) return next_attempt_;
  return ready_ ? std::min(connection_->deadline(), next_beat_) : connection_->deadline();
}

void Node::Wait() {
  pollfd waiting[2] = {{wakeup_, POLLIN, 0}, {-1, 0, 0}};
  if (connection_) waiting[1] = {connection_->fd(), connection_->events(), 0};
  const auto left = NextMoment() - MonoNow();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
  poll(waiting, 2, static_cast<int>(std::clamp<int64_t>(ms, 0, 1000)));
  if (waiting[0].revents == 0) return;
  eventfd_t count = 0;
  eventfd_read(wakeup_, &count);
}

void Node::DeliverReplies() {
  unanswered_ -= replies_.size();
  for (const auto& deliver : replies_) deliver();
  replies_.clear();
}

template <class Reply>
void Node::Deliver(ReplyTo<Reply> to, Reply reply) {
  replies_.push_back([to, reply = std::move(reply)]() mutable { to(std::move(reply)); });
}

// ---- requests -------------------------------------------------------------------------------

void Node::TakeRequests() {
  std::vector<Waiting> requests;
  {
    const std::lock_guard lock(mutex_);
    requests.swap(inbox_);
  }
  for (auto& [submission, residence] : requests) {
    std::visit([this, residence = residence](auto& of) { Accept(std::move(of), residence); },
               submission);
  }
}

template <class R>
void Node::Accept(Submitted<R> submitted, Residence residence) {
  const auto refuse = [this, id = submitted.request.id,
                       to = submitted.to](const std::string& reason) {
    Deliver(to, Failed<R>(id, Away(reason), true));
  };
  if (!ready_) return refuse(reason_);
  if constexpr (kNeedsClaimedRange<R>) {
    const auto claimed = claimed_.find(submitted.request.range);
    if (claimed == claimed_.end() || claimed->second != residence) {
      return refuse("the range is not claimed in this session");
    }
  }
  const Ticket ticket = next_ticket_++;
  open_.emplace(ticket, refuse);
  const Answer<typename R::Reply> answer = [this, ticket, id = submitted.request.id,
                                            to = submitted.to](typename R::Reply reply) {
    reply.id = id;
    if (open_.erase(ticket) > 0) Deliver(to, std::move(reply));
  };
  if constexpr (std::is_same_v<R, ClaimRange>) {
    if (submitted.request.range == 0) return StartMarked(submitted.request, answer, residence);
  }
  Start(std::move(submitted.request), answer, residence);
}

// Claims range 0 only after its keys are marked as this installation's.
void Node::StartMarked(const ClaimRange& request, Answer<RangeClaimed> answer,
                       Residence residence) {
  Call(MarkCommand(options_, keys_), [](const CallResult&) {});
  Call(AskMarkCommand(keys_), [this, request, answer = std::move(answer),
                               residence](const CallResult& result) {
    const Status whose = result.status.done() ? JudgeMark(options_, *result.reply) : Status::Done();
    if (whose.done()) return Start(request, answer, residence);
    if (leave_.empty()) leave_ = whose.message;
  });
}

template <class R>
void Node::Start(R request, Answer<typename R::Reply> answer, Residence residence) {
  if constexpr (std::is_same_v<R, TimelineBatch>) {
    batches_.push_back(std::make_shared<BatchJob>(std::move(request), options_, keys_, answer));
  } else if constexpr (std::is_same_v<R, ResetRange>) {
    walk_->Add(std::move(request), answer);
  } else {
    Range claims{};
    if constexpr (std::is_same_v<R, ClaimRange>) claims = request.range;
    CommandBuffer command = Encode(request, options_, keys_);
    Call(std::move(command), [this, answer, claims, residence](const CallResult& result) {
      if (!result.status.done()) return answer(Failed<R>(0, result.status, result.needs_claim));
      auto parsed = Parse(R{}, *result.reply, keys_.layout());
      if constexpr (std::is_same_v<R, ClaimRange>) {
        if (parsed.status.done() && parsed.refused_by == 0) claimed_[claims] = residence;
        parsed.node = number_;
      }
      answer(std::move(parsed));
    });
  }
}

// Batches take turns, call by call, so that a small one does not wait for all of a large one.
void Node::StartCalls() {
  while (!batches_.empty() && calls_in_flight_ < options_.calls_in_flight) {
    ++calls_in_flight_;
    const auto batch = std::move(batches_.front());
    batches_.pop_front();
    batch->StartCall(*this, [this, batch](bool more) {
      --calls_in_flight_;
      if (more) batches_.push_back(batch);
    });
  }
}

// ---- the session ----------------------------------------------------------------------------

void Node::Connect() {
  connection_ = std::make_unique<PipelinedConnection>(options_);
  walk_ = std::make_unique<ResetWalk>(static_cast<CommandChannel&>(*this), options_, keys_);
  leave_.clear();
  LoadScripts();
  AskIdentity();  // the answer makes the session ready
}

void Node::LoadScripts() {
  for (size_t i = 0; i < kScriptCount; ++i) {
    Call(CommandOf("SCRIPT", "LOAD", TextOf(static_cast<Script>(i))),
         [this](const CallResult& result) {
           if (result.status.done() || !leave_.empty()) return;
           leave_ = "a script was refused: " + result.status.message;
         });
  }
}

void Node::AskIdentity() {
  const auto info = std::make_shared<std::string>();
  for (const char* section : {"server", "replication"}) {
    const bool last = section == std::string_view("replication");
    Call(CommandOf("INFO", section), [this, info, last](const CallResult& result) {
      if (!result.status.done()) {
        if (leave_.empty()) leave_ = result.status.message;
        return;
      }
      *info += Text(*result.reply);
      if (last) TakeIdentity(IdentityOf(*info));
    });
  }
}

void Node::TakeIdentity(const Identity& identity) {
  if (!leave_.empty()) return;
  if (!identity.master()) {
    leave_ = "the node is not a master";
  } else if (!ready_) {
    identity_ = identity;
    ready_ = true;
    failures_ = 0;
    next_beat_ = now_ + Duration(options_.heartbeat);
    SetState(true, "");
  } else if (identity != identity_) {
    leave_ = "the node is not the one it was (restart or change of role)";
  }
}

void Node::Beat() {
  if (now_ < next_beat_) return;
  next_beat_ = now_ + Duration(options_.heartbeat);
  AskIdentity();
}

void Node::Lose(const std::string& why) {
  const std::string reason = "redis " + ToString(options_.address) + ": " + why;
  const std::string advice = MeaningOf(why).advice;
  DropSession(reason);  // which ends `why`, if that is leave_
  next_attempt_ = now_ + options_.reconnect.Delay(++failures_, random_());
  SetState(false, reason + (advice.empty() ? "" : "; ") + advice);
  if (events_.on_doubt) events_.on_doubt();
}

void Node::DropSession(const std::string& reason) {
  reason_ = reason;
  connection_.reset();  // no callback comes any more
  walk_.reset();
  batches_.clear();
  calls_in_flight_ = 0;
  claimed_.clear();
  ready_ = false;
  for (const auto& [ticket, refuse] : open_) refuse(reason);
  open_.clear();
  leave_.clear();
}

void Node::SetState(bool connected, const std::string& reason) {
  if (connected_ == connected && reported_ == reason) return;
  connected_ = connected;
  reported_ = reason;
  if (log_) {
    log_(connected ? LogLevel::kInfo : LogLevel::kWarn,
         connected ? "redis " + ToString(options_.address) + ": connected" : reason);
  }
  if (events_.on_state) events_.on_state(connected, reason);
}

// ---- calls ----------------------------------------------------------------------------------

void Node::Call(CommandBuffer command, Done done) {
  Send(std::move(command), std::move(done), true);
}

void Node::Send(CommandBuffer command, Done done, bool may_load_scripts) {
  connection_->out().Append(command);
  connection_->Expect(
      [this, command = std::move(command), done = std::move(done),
       may_load_scripts](const redisReply& reply) {
        if (IsError(reply)) return OnError(Text(reply), command, done, may_load_scripts);
        done({Status::Done(), false, &reply});
      },
      now_);
}

void Node::OnError(std::string_view error, const CommandBuffer& command, const Done& done,
                   bool may_load_scripts) {
  const ErrorMeaning meaning = MeaningOf(error);
  if (meaning.action == ErrorAction::kLoadScripts && may_load_scripts) {
    LoadScripts();
    return Send(command, done, false);
  }
  const bool needs_claim = Act(meaning, error);
  done({StatusOf(meaning, error), needs_claim, nullptr});
}

// Acts on the session. Returns whether the call's range must be claimed again.
bool Node::Act(const ErrorMeaning& meaning, std::string_view error) {
  switch (meaning.action) {
    case ErrorAction::kNeedsClaim:
      return true;
    case ErrorAction::kLeaveNode:
      if (leave_.empty()) leave_ = std::string(error);
      return true;
    case ErrorAction::kFollowMove:
      if (events_.on_doubt) events_.on_doubt();
      return true;
    case ErrorAction::kAskForMap:
      if (events_.on_doubt) events_.on_doubt();
      return false;
    case ErrorAction::kHoldRange:  // the caller tries again until the slot has moved
    case ErrorAction::kLoadScripts:
    case ErrorAction::kNone:
      return false;
  }
  return false;
}

}  // namespace fanline::redis
