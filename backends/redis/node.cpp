#include "backends/redis/node.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "backends/redis/answers.h"
#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/sign_in.h"
#include "backends/redis/installation_mark.h"
#include "backends/redis/requests.h"
#include "fanline/base/check.h"

namespace fanline::redis {
namespace {

Time ClockNow() { return std::chrono::time_point_cast<Duration>(Clock::now()); }

}  // namespace

Node::Node(const Options& options, uint32_t number, Events events, LogSink log)
    : options_(options),
      number_(number),
      keys_(options),
      events_(std::move(events)),
      log_(std::move(log)),
      wakeup_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      random_(std::random_device{}()) {
  FANLINE_CHECK(Problem(options).empty(), "options of redis that cannot work");
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

bool Node::Submit(OfEach<Submission>& submission, Residence residence) {
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
    now_ = ClockNow();
    if (!connection_ && now_ >= next_attempt_) Connect();
    TakeRequests();
    if (connection_) {
      if (ready_) {
        Beat();
        StartParts();
      }
      if (!connection_->Pump(now_)) leave_ = leave_.empty() ? connection_->failure() : leave_;
      if (leave_.empty() && ready_) StartParts();
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
  const auto left = NextMoment() - ClockNow();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
  poll(waiting, 2, static_cast<int>(std::clamp<int64_t>(ms, 0, 1000)));
  eventfd_t count = 0;
  eventfd_read(wakeup_, &count);
}

void Node::DeliverReplies() {
  unanswered_ -= replies_.size();
  for (auto& reply : replies_) {
    std::visit([](auto& answered) { answered.to(std::move(answered.reply)); }, reply);
  }
  replies_.clear();
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
void Node::Accept(Submission<R> submission, Residence residence) {
  const Open<R> open{submission.request.id, submission.to};
  if (!ready_) {
    replies_.push_back(Failed(open, Away(reason_), true));
    return;
  }
  if constexpr (kNeedsClaimedRange<R>) {
    const auto claimed = claimed_.find(submission.request.range);
    if (claimed == claimed_.end() || claimed->second != residence) {
      replies_.push_back(Failed(open, Away("the range is not claimed in this session"), true));
      return;
    }
  }
  const Ticket ticket = next_ticket_++;
  open_.emplace(ticket, open);
  if constexpr (std::is_same_v<R, ClaimRange>) {
    if (submission.request.range == 0) return StartMarked(submission.request, ticket, residence);
  }
  Start(std::move(submission.request), ticket, residence);
}

// Claims range 0 only after its keys are marked as this installation's.
void Node::StartMarked(const ClaimRange& request, Ticket ticket, Residence residence) {
  Call([this](CommandBuffer& out, const ScriptDigests&) { EncodeMark(options_, keys_, out); },
       [](const CallResult&) {});
  Call([this](CommandBuffer& out, const ScriptDigests&) { EncodeAskMark(keys_, out); },
       [this, request, ticket, residence](const CallResult& result) {
         const Status whose =
             result.status.done() ? JudgeMark(options_, *result.reply) : Status::Done();
         if (whose.done()) return Start(request, ticket, residence);
         if (leave_.empty()) leave_ = whose.message;
       });
}

template <class R>
void Node::Start(R request, Ticket ticket, Residence residence) {
  const Answer<typename R::Reply> answer = [this, ticket](typename R::Reply reply) {
    Reply<R>(ticket, std::move(reply));
  };
  if constexpr (std::is_same_v<R, TimelineBatch>) {
    batches_.push_back(std::make_shared<BatchJob>(
        std::move(request), options_, keys_, prune_gate_, [this] { --parts_in_flight_; }, answer));
  } else if constexpr (std::is_same_v<R, ResetRange>) {
    walk_->Add(std::move(request), answer);
  } else {
    const auto shared = std::make_shared<const R>(std::move(request));
    Call(
        [this, shared](CommandBuffer& out, const ScriptDigests& digests) {
          Encoder{options_, keys_, digests, out}(*shared);
        },
        [this, shared, answer, residence](const CallResult& result) {
          if (!result.status.done()) {
            return answer(Failed<R>({shared->id, {}}, result.status, result.needs_claim).reply);
          }
          auto parsed = Parse(*shared, *result.reply, keys_.layout());
          if constexpr (std::is_same_v<R, ClaimRange>) {
            if (parsed.status.done() && parsed.refused_by == 0) claimed_[shared->range] = residence;
            parsed.node = number_;
          }
          answer(std::move(parsed));
        });
  }
}

void Node::StartParts() {
  while (!batches_.empty() && parts_in_flight_ < options_.calls_in_flight) {
    ++parts_in_flight_;
    const auto batch = batches_.front();
    batch->StartPart(*this);
    if (!batch->has_more()) batches_.pop_front();
  }
}

template <class R>
void Node::Reply(Ticket ticket, typename R::Reply reply) {
  const auto found = open_.extract(ticket);
  if (found.empty()) return;
  const auto& open = std::get<Open<R>>(found.mapped());
  reply.id = open.id;
  replies_.push_back(Answered<R>{std::move(reply), open.to});
}

// ---- the session ----------------------------------------------------------------------------

void Node::Connect() {
  connection_ = std::make_unique<PipelinedConnection>(options_);
  walk_ = std::make_unique<ResetWalk>(static_cast<CommandChannel&>(*this), options_, keys_);
  leave_.clear();
  Greet();
}

// Sends the first commands of a connection; their answers make the session ready.
void Node::Greet() {
  SignIn();
  LoadScripts();
  AskIdentity();
}

void Node::SignIn() {
  CommandBuffer auth;
  leave_ = EncodeSignIn(options_, auth);
  if (auth.empty()) return;
  Call([auth](CommandBuffer& out, const ScriptDigests&) { out.Append(auth); },
       [this](const CallResult& result) {
         if (!result.status.done()) leave_ = "not let in: " + result.status.message;
       });
}

void Node::LoadScripts() {
  for (size_t i = 0; i < kScriptCount; ++i) {
    const Script script = static_cast<Script>(i);
    Call([script](CommandBuffer& out,
                  const ScriptDigests&) { out.Command("SCRIPT", "LOAD", TextOf(script)); },
         [this, script](const CallResult& result) {
           if (result.status.done()) {
             digests_.Set(script, std::string(Text(*result.reply)));
           } else if (leave_.empty()) {
             leave_ = "a script was refused: " + result.status.message;
           }
         });
  }
}

void Node::AskIdentity() {
  const auto info = std::make_shared<std::string>();
  for (const char* section : {"server", "replication"}) {
    const bool last = section == std::string_view("replication");
    Call([section](CommandBuffer& out, const ScriptDigests&) { out.Command("INFO", section); },
         [this, info, last](const CallResult& result) {
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
  DropSession(reason);
  next_attempt_ = now_ + options_.reconnect.Delay(++failures_, random_());
  SetState(false, reason);
  if (events_.on_doubt) events_.on_doubt();
}

void Node::DropSession(const std::string& reason) {
  reason_ = reason;
  connection_.reset();  // no callback comes any more
  walk_.reset();
  batches_.clear();
  parts_in_flight_ = 0;
  claimed_.clear();
  ready_ = false;
  for (const auto& [ticket, request] : open_) {
    std::visit([&](const auto& open) { replies_.push_back(Failed(open, Away(reason), true)); },
               request);
  }
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

void Node::Call(Encode encode, Done done) { Send(std::move(encode), std::move(done), true); }

void Node::Send(Encode encode, Done done, bool may_load_scripts) {
  encode(connection_->out(), digests_);
  connection_->Expect(
      [this, encode = std::move(encode), done = std::move(done),
       may_load_scripts](const redisReply& reply) {
        if (IsError(reply)) return OnError(Text(reply), encode, done, may_load_scripts);
        done({Status::Done(), false, &reply});
      },
      now_);
}

void Node::OnError(std::string_view error, Encode encode, Done done, bool may_load_scripts) {
  const ErrorMeaning meaning = MeaningOf(error);
  if (meaning.action == ErrorAction::kLoadScripts && may_load_scripts) {
    LoadScripts();
    Send(std::move(encode), std::move(done), false);
    return;
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
