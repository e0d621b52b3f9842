// Appends to Kafka: hints, messages about relations, dead letters, and whatever feedctl publishes.
// One idempotent producer (acks=all) behind all of them; records of one partition stay in the order
// they were given.
//
// Each request gets exactly one reply, once each of its records is acknowledged or given up. kDone:
// all records are acknowledged. kLater: at least one was given up; some may still be in the log
// (append again, duplicates are harmless). kNever: at least one can never be appended (too large,
// refused by the broker's validation); the others are appended, except those sent in the same
// batch. No record waits longer than delivery_timeout. When the send queue is full, a record is
// given up at once, with those after it. The reply to AppendHints names the hints that are not
// acknowledged.
//
// A producer that hits a fatal error (librdkafka 2.0 does after some disconnects) is replaced by a
// new one; requests under way are answered kLater.
//
// Threads: any thread may call. Replies come from the producer's own thread, from within Close, or
// from within the call if no record is under way any more.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "backends/kafka/producer_options.h"
#include "fanline/base/log_sink.h"
#include "fanline/base/time.h"
#include "fanline/model/record.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"
#include "fanline/wire/relation_log.h"

namespace fanline::kafka {

class AppendRequest;
class ProducerSession;
struct Outgoing;

class Producer final : public Serves<AppendHints>,
                       public Serves<AppendRelations>,
                       public Serves<AppendRetries>,
                       public Serves<AppendEvent>,
                       public Serves<AppendDeadLetter> {
 public:
  using Reply = std::function<void(Status)>;

  // Throws Misconfigured for properties that librdkafka refuses. Brokers need not be there yet.
  // `log` may be empty.
  Producer(ProducerOptions options, LogSink log);
  // Close(10 s), if that was not done.
  ~Producer() override;
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  // One record per (range, hint): partition = range, no key.
  void Submit(AppendHints request, ReplyTo<HintsAppended> to) override;

  // One record per message, its key RelationLogKey: both messages of an edge meet in one partition.
  void Submit(AppendRelations request, ReplyTo<RelationsAppended> to) override;

  // To relation-log.retry, with the same key.
  void Submit(AppendRetries request, ReplyTo<RetriesAppended> to) override;

  // To the feed topic, as JSON, its key the post's id in decimal.
  void Submit(AppendEvent request, ReplyTo<EventAppended> to) override;

  // To `<topic>.dlq`: key, value and headers as they were, plus the headers of a letter
  // (fanline/wire/dead_letter.h). A letter that the topic never takes is appended without key,
  // value and headers, with fanline-omitted (size and CRC-32 of the value, why). If even that is
  // refused, it is logged as an error with its origin and answered kDone, never kNever.
  void Submit(AppendDeadLetter request, ReplyTo<DeadLetterAppended> to) override;

  // Any record. Empty key: none.
  void Produce(const std::string& topic, int32_t partition, std::string_view key,
               std::string_view value, const Headers& headers, Reply reply);

  // Waits until everything appended so far is answered. False: not within `limit`.
  [[nodiscard]] bool Flush(Duration limit);

  // Flushes within `limit`, then answers all open and later requests kLater.
  void Close(Duration limit);

 private:
  // Appends one record per item, made by `keyed`.
  template <class Items, class Appended, class F>
  void Append(const std::string& topic, const Items& items, uint64_t id, ReplyTo<Appended> to,
              F keyed);
  template <class Items, class F>
  void SendAll(const std::string& topic, const Items& items, AppendRequest* open, F keyed);
  void SendDeadLetter(const DeadLetter& letter, const std::string& omitted, Reply reply);
  void SendOne(const std::string& topic, const Outgoing& record, Reply reply);
  // Under mutex_. False: do not go on now, as with a full queue.
  bool Send(const std::string& topic, const Outgoing& record, AppendRequest* request);
  void Run();
  void Renew(std::unique_lock<std::mutex>& lock);
  static void End(std::shared_ptr<ProducerSession> session);

  const ProducerOptions options_;
  const LogSink log_;

  std::atomic<size_t> unanswered_ = 0;  // requests
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_, which is held while sending. Null between two sessions and once closed.
  std::shared_ptr<ProducerSession> session_;
  bool closing_ = false;

  std::thread server_;
};

}  // namespace fanline::kafka
