#include "dispatcher/prometheus_metrics.h"

#include <array>

#include "daemon/observe/consumed_log.h"
#include "daemon/observe/metrics.h"

namespace fanline::dispatcher {
namespace {

using daemon::AddCounter;
using daemon::AddGauge;
using daemon::AddHistogram;
using daemon::Seconds;
using daemon::SecondsBuckets;
using daemon::SizeBuckets;
using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

class Prometheus final : public daemon::ConsumedLog<Metrics> {
 public:
  Prometheus(Registry& registry, const daemon::Log& log)
      : ConsumedLog(
            registry, log,
            "events that nobody has read may be gone: publish again what was published since") {
    for (size_t i = 0; i < received_.size(); ++i) {
      received_[i] = &AddCounter(registry, "fanline_events_received_total",
                                 "Valid feed events taken from the log, by type",
                                 {{"type", NameOf(static_cast<EventKind>(i))}});
    }
    for (size_t i = 0; i < switched_.size(); ++i) {
      const bool pull = i <= static_cast<size_t>(SwitchCause::kLag);
      switched_[i] = &AddCounter(registry, "fanline_authors_switched_total",
                                 "Authors switched by themselves, by mode and cause",
                                 {{"to", pull ? "pull" : "push"}, {"cause", kCauseNames[i]}});
    }
  }

  void EventReceived(EventKind kind) override { received_[static_cast<size_t>(kind)]->Increment(); }

  void EventRejected(const std::string& reason, const std::string& trace_id) override {
    rejected_.Increment();
    log_.Warn("event given to the dead letters", {{"reason", reason}, {"trace_id", trace_id}});
  }

  void TracedEventDone(const FeedEvent& event, const std::string& trace_id,
                       Duration since_published) override {
    log_.Info("event dispatched", {{"trace_id", trace_id},
                                   {"post", ToString(event.post)},
                                   {"author", ToString(event.author)},
                                   {"seconds", Seconds(since_published)}});
  }

  void EventDone(Duration since_published) override {
    done_.Increment();
    event_seconds_.Observe(Seconds(since_published));
  }

  void TransactionSent(uint64_t events) override {
    transaction_events_.Observe(static_cast<double>(events));
  }

  void HintsAppended(uint64_t hints) override { hints_.Increment(static_cast<double>(hints)); }

  void RangesLeftOut(uint64_t ranges) override { left_out_.Increment(static_cast<double>(ranges)); }

  void FollowersUnread(const Status& why) override {
    unread_.Increment();
    log_.Warn("followers could not be read after a commit; the hints go to all ranges",
              {{"resource", why.resource}, {"reason", why.message}});
  }

  void LogGap(int32_t partition, int64_t from, int64_t to) override {
    lost_.Increment(static_cast<double>(to - from));
    log_.Error("events were cut from the log before they were read; publish them again",
               {{"partition", partition}, {"from_offset", from}, {"to_offset", to}});
  }

  void AuthorSwitched(UserId author, const ModeSwitch& how, const AuthorWeight& weight) override {
    const auto cause = static_cast<size_t>(how.cause);
    switched_[cause]->Increment();
    log_.Info(how.pull ? "new posts of an author are merged at read, as pushing them costs too much"
                       : "new posts of an author are pushed again",
              {{"author", ToString(author)},
               {"cause", kCauseNames[cause]},
               {"live_followers", weight.live},
               {"lag_seconds", Seconds(weight.lag)}});
  }

  void AuthorsPulled(uint64_t by_hand, uint64_t by_itself) override {
    pulled_by_hand_.Set(static_cast<double>(by_hand));
    pulled_by_itself_.Set(static_cast<double>(by_itself));
  }

  void Buffered(uint64_t events, uint64_t parked) override {
    open_.Set(static_cast<double>(events));
    events_parked_.Set(static_cast<double>(parked));
  }

 private:
  static constexpr std::array<const char*, kSwitchCauses> kCauseNames = {"followers", "lag", "fell",
                                                                         "off"};
  Gauge& Pulled(const char* by) {
    return AddGauge(registry_, "fanline_authors_pulled",
                    "Authors whose new posts are merged at read, of the whole installation",
                    {{"set_by", by}});
  }

  std::array<Counter*, kEventKinds> received_{};    // by EventKind
  std::array<Counter*, kSwitchCauses> switched_{};  // by SwitchCause
  Gauge& pulled_by_hand_ = Pulled("hand");
  Gauge& pulled_by_itself_ = Pulled("itself");
  Counter& rejected_ =
      AddCounter(registry_, "fanline_events_rejected_total", "Events given to the dead letters");
  Counter& done_ = AddCounter(registry_, "fanline_events_done_total",
                              "Events stored and with all hints acknowledged");
  Histogram& event_seconds_ =
      AddHistogram(registry_, "fanline_event_seconds",
                   "From an event's record to its last acknowledged hint", SecondsBuckets());
  Histogram& transaction_events_ = AddHistogram(registry_, "fanline_transaction_events",
                                                "Events per transaction", SizeBuckets());
  Counter& hints_ =
      AddCounter(registry_, "fanline_hints_appended_total", "Hints acknowledged by Kafka");
  Counter& left_out_ =
      AddCounter(registry_, "fanline_ranges_left_out_total",
                 "Ranges that got no hint of an event, as they hold no follower of its author");
  Counter& unread_ = AddCounter(registry_, "fanline_followers_unread_total",
                                "Transactions whose authors' followers could not be read, so that "
                                "all ranges got hints");
  Counter& lost_ =
      AddCounter(registry_, "fanline_events_lost_total",
                 "Offsets cut from the log before they were read: longer retention needed");
  Gauge& open_ = AddGauge(registry_, "fanline_events_open", "Events received and not finished");
  Gauge& events_parked_ = AddGauge(registry_, "fanline_events_parked",
                                   "Open events that wait for a shard or for ranges that are away, "
                                   "or slower than others");
};

}  // namespace

std::unique_ptr<Metrics> PrometheusMetrics(Registry& registry, const daemon::Log& log) {
  return std::make_unique<Prometheus>(registry, log);
}

}  // namespace fanline::dispatcher
