// The dispatcher's metrics in a Prometheus registry. docs/metrics.md lists them for operators.
// Called from the dispatcher's thread; scraped from another.
#pragma once

#include <prometheus/registry.h>

#include <array>

#include "daemon/observe/consumed_log.h"
#include "daemon/observe/log.h"
#include "daemon/observe/metrics.h"
#include "dispatcher/metrics.h"

namespace fanline::dispatcher {

class PrometheusMetrics final : public daemon::ConsumedLog<Metrics> {
 public:
  PrometheusMetrics(prometheus::Registry& registry, const daemon::Log& log)
      : ConsumedLog(
            registry, log,
            "events that nobody has read may be gone: publish again what was published since") {
    for (size_t i = 0; i < received_.size(); ++i) {
      received_[i] = &AddCounter("fanline_events_received_total",
                                 "Valid feed events taken from the log, by type",
                                 {{"type", NameOf(static_cast<EventKind>(i))}});
    }
    for (size_t i = 0; i < switched_.size(); ++i) {
      const bool pull = i <= static_cast<size_t>(SwitchCause::kLag);
      switched_[i] = &AddCounter("fanline_authors_switched_total",
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
                                   {"seconds", daemon::Seconds(since_published)}});
  }

  void EventDone(Duration since_published) override {
    done_.Increment();
    Observe(event_seconds_, since_published);
  }

  void TransactionSent(uint64_t events) override { Observe(transaction_events_, events); }

  void HintsAppended(uint64_t hints) override { Add(hints_, hints); }

  void RangesLeftOut(uint64_t ranges) override { Add(left_out_, ranges); }

  void FollowersUnread(const Status& why) override {
    unread_.Increment();
    log_.Warn("followers could not be read after a commit; the hints go to all ranges",
              {{"resource", why.resource}, {"reason", why.message}});
  }

  void OriginalsUnread(uint64_t reposts) override { Add(originals_unread_, reposts); }

  void LogGap(int32_t partition, int64_t from, int64_t to) override {
    Add(lost_, to - from);
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
               {"lag_seconds", daemon::Seconds(weight.lag)}});
  }

  void Buffered(uint64_t events, uint64_t parked) override {
    Set(open_, events);
    Set(events_parked_, parked);
  }

 private:
  static constexpr std::array<const char*, kSwitchCauses> kCauseNames = {"followers", "lag", "fell",
                                                                         "off"};

  Counters<kEventKinds> received_{};    // by EventKind
  Counters<kSwitchCauses> switched_{};  // by SwitchCause
  Counter& rejected_ =
      AddCounter("fanline_events_rejected_total", "Events given to the dead letters");
  Counter& done_ =
      AddCounter("fanline_events_done_total", "Events stored and with all hints acknowledged");
  Histogram& event_seconds_ =
      AddSeconds("fanline_event_seconds", "From an event's record to its last acknowledged hint");
  Histogram& transaction_events_ = AddSizes("fanline_transaction_events", "Events per transaction");
  Counter& hints_ = AddCounter("fanline_hints_appended_total", "Hints acknowledged by Kafka");
  Counter& left_out_ =
      AddCounter("fanline_ranges_left_out_total",
                 "Ranges that got no hint of an event, as they hold no follower of its author");
  Counter& unread_ = AddCounter("fanline_followers_unread_total",
                                "Transactions whose authors' followers could not be read, so that "
                                "all ranges got hints");
  Counter& originals_unread_ =
      AddCounter("fanline_originals_unread_total",
                 "Reposts stored as they were named, as a shard did not say what those posts show");
  Counter& lost_ =
      AddCounter("fanline_events_lost_total",
                 "Offsets cut from the log before they were read: longer retention needed");
  Gauge& open_ = AddGauge("fanline_events_open", "Events received and not finished");
  Gauge& events_parked_ = AddGauge("fanline_events_parked",
                                   "Open events that wait for a shard or for ranges that are away, "
                                   "or slower than others");
};

}  // namespace fanline::dispatcher
