#include "api/operations/exchange.h"

#include <algorithm>
#include <exception>

namespace fanline::api {
namespace {

uint64_t IdOf(const AnyReply& reply) {
  return std::visit([](const auto& each) { return each.id; }, reply);
}

}  // namespace

void Exchange::Answer(const Json& body) {
  Answer(Response{.body = body.dump(-1, ' ', false, Json::error_handler_t::replace)});
}

void Exchange::Answer(Response response, const Status& failed) {
  if (const Answered answered = std::exchange(answered_, nullptr)) {
    answered(std::move(response), failed);
  }
}

void Exchange::Take(Step step) {
  std::unique_lock lock(mutex_);
  steps_.push_back(std::move(step));
  if (std::exchange(taking_, true)) return;
  for (; !steps_.empty(); lock.lock()) {
    const Step next = std::move(steps_.front());
    steps_.pop_front();
    lock.unlock();
    if (!answered_) continue;
    try {
      next();
    } catch (const Refused& refused) {
      Answer(ToResponse(refused.problem));
    } catch (const StoreFailed& failed) {
      Answer(ToResponse(ProblemOf(failed.status)), failed.status);
    } catch (const std::exception& error) {
      Answer(ToResponse(ProblemOfStatus(500)), Status::Never(error.what()));
    }
  }
  taking_ = false;
}

uint32_t Exchange::following_limit() const { return all_.rules_.following_limit; }
const ShardMap& Exchange::map() const { return all_.map_; }

void Exchanges::Begin(const Call& call, Alive alive, Exchange::Answered answered) {
  Begin(call.begin, {.work = call.work, .longest_wait = rules_.longest_wait}, std::move(alive),
        std::move(answered));
}

void Exchanges::Begin(const std::function<void(Exchange&)>& begin, const Asking& asking,
                      Alive alive, Exchange::Answered answered) {
  const auto exchange = std::make_shared<Exchange>(*this, asking, std::move(alive),
                                                   static_cast<uint64_t>(clock_().unix_ms) * 1000,
                                                   std::move(answered));
  exchange->Take([&] { begin(*exchange); });
}

uint64_t Exchanges::Note(std::shared_ptr<Exchange> by, Then then) {
  const std::lock_guard lock(mutex_);
  pending_.emplace(++last_id_, Pending{std::move(by), std::move(then)});
  return last_id_;
}

void Exchanges::NoteFailure(Time at, AnyReply failure) {
  const std::lock_guard lock(mutex_);
  failures_.emplace(at, std::move(failure));
}

Turn Exchanges::TurnOf(const Asking& asking, const Alive& alive) const {
  const Duration longest = std::min(asking.longest_wait, asking.patience);
  return {.work_class = static_cast<size_t>(asking.work),
          .until = longest == Duration::max() ? Time::max() : clock_().mono + longest,
          .alive = alive,
          .here = asking.here};
}

Time Exchanges::Step(Time now) {
  std::vector<AnyReply> failed;
  {
    const std::lock_guard lock(mutex_);
    const auto later = failures_.upper_bound(now);
    for (auto at = failures_.begin(); at != later; ++at) failed.push_back(std::move(at->second));
    failures_.erase(failures_.begin(), later);
  }
  for (AnyReply& reply : failed) Push(std::move(reply));
  return now + kTick;
}

void Exchanges::Push(AnyReply reply) {
  std::unique_lock lock(mutex_);
  auto found = pending_.extract(IdOf(reply));
  lock.unlock();
  if (found.empty()) return;
  auto& [by, then] = found.mapped();
  by->Take([then = std::move(then), reply = std::move(reply)]() mutable { then(reply); });
}

void RefuseByLimits(const std::optional<UserId>& over, UserId user,
                    const std::optional<std::chrono::seconds>& again_in, const Exchange& shards) {
  if (over) {
    throw Refused{{Code::kFollowingLimit, "user " + ToString(*over) + " follows " +
                                              std::to_string(shards.following_limit()) +
                                              " users already; unfollow somebody first"}};
  }
  if (!again_in) return;
  const auto seconds = static_cast<int>(again_in->count());
  throw Refused{{.code = Code::kChangeLimit,
                 .detail = "user " + ToString(user) + " has made all " +
                           std::to_string(ChangesAnHour(shards.following_limit())) +
                           " changes of an hour; the next is possible in " +
                           std::to_string(seconds) + " seconds",
                 .retry_after_seconds = seconds}};
}

}  // namespace fanline::api
