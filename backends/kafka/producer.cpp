#include "backends/kafka/producer.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "backends/kafka/errors.h"
#include "backends/kafka/producer_session.h"
#include "fanline/bucket.h"

namespace fanline::kafka {
namespace {

constexpr Duration kServeWait = std::chrono::milliseconds(100);
constexpr Duration kBetweenSessions = std::chrono::milliseconds(500);
constexpr size_t kShortReason = 1024;  // of a letter that is to be small

std::string OriginOf(const Record& record) {
  return record.topic + "/" + std::to_string(record.partition) + "/" +
         std::to_string(record.offset);
}

// The records of one request, and who wants to hear of them. It ends itself when the last one is
// answered. `open` counts the records under way and, while Submit still adds some, Submit.
class Request final : public Delivery {
 public:
  // `unanswered` counts the requests with records under way.
  Request(std::atomic<size_t>& unanswered, std::string what, std::function<void(Status)> reply)
      : unanswered_(unanswered), what_(std::move(what)), reply_(std::move(reply)) {
    unanswered_.fetch_add(1, std::memory_order_relaxed);
  }

  void Adding() { open_.fetch_add(1, std::memory_order_relaxed); }
  // That record was not taken after all.
  void NotAdded(rd_kafka_resp_err_t why) {
    open_.fetch_sub(1, std::memory_order_relaxed);
    refused_ = why;
  }
  // A refusal is answered at once: what was queued before it may be stuck for long.
  void AllAdded() {
    if (refused_ != RD_KAFKA_RESP_ERR_NO_ERROR) Reply(refused_);
    Answered();
  }

  void OnRecord(rd_kafka_resp_err_t result) override {
    // Never is worse than later: it will not go away.
    if (result != RD_KAFKA_RESP_ERR_NO_ERROR && MeaningOf(failed_).outcome != Outcome::kNever)
      failed_ = result;
    Answered();
  }

 private:
  void Answered() {
    if (open_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (refused_ == RD_KAFKA_RESP_ERR_NO_ERROR) Reply(failed_);
    unanswered_.fetch_sub(1, std::memory_order_release);
    delete this;
  }
  void Reply(rd_kafka_resp_err_t result) const {
    if (reply_) reply_(StatusOf(result, what_));
  }

  std::atomic<size_t>& unanswered_;
  const std::string what_;
  const std::function<void(Status)> reply_;
  std::atomic<uint32_t> open_ = 1;
  rd_kafka_resp_err_t refused_ = RD_KAFKA_RESP_ERR_NO_ERROR;  // the submitting thread's
  rd_kafka_resp_err_t failed_ = RD_KAFKA_RESP_ERR_NO_ERROR;   // the serving thread's
};

}  // namespace

class Producer::Impl {
 public:
  Impl(ProducerOptions options, HintsReply on_hints, DeadLetterReply on_dead_letter, LogSink log,
       RelationsReply on_relations, RetriesReply on_retries);
  ~Impl() { Close(std::chrono::seconds(10)); }

  void Submit(AppendHints request);
  void Submit(AppendRelations request);
  void Submit(AppendRetries request);
  void Submit(AppendDeadLetter request);
  void Produce(const std::string& topic, const ProducerSession::Outgoing& record, Reply reply);
  bool Flush(Duration limit);
  void Close(Duration limit);

 private:
  void SendDeadLetter(const DeadLetter& letter, const std::string& omitted,
                      std::function<void(Status)> reply);
  rd_kafka_resp_err_t Send(const std::string& topic, const ProducerSession::Outgoing& record,
                           Request* request);
  void Run();
  void Renew(std::unique_lock<std::mutex>& lock);
  void End(std::shared_ptr<ProducerSession> session);

  const ProducerOptions options_;
  const HintsReply on_hints_;
  const DeadLetterReply on_dead_letter_;
  const RelationsReply on_relations_;
  const RetriesReply on_retries_;
  const LogSink log_;

  std::atomic<size_t> unanswered_ = 0;  // requests
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_; held while sending. None: between two lives, or closed.
  std::shared_ptr<ProducerSession> session_;
  bool closing_ = false;

  std::thread server_;
};

Producer::Impl::Impl(ProducerOptions options, HintsReply on_hints, DeadLetterReply on_dead_letter,
                     LogSink log, RelationsReply on_relations, RetriesReply on_retries)
    : options_(std::move(options)),
      on_hints_(std::move(on_hints)),
      on_dead_letter_(std::move(on_dead_letter)),
      on_relations_(std::move(on_relations)),
      on_retries_(std::move(on_retries)),
      log_(std::move(log)),
      session_(std::make_shared<ProducerSession>(options_, log_)),
      server_([this] { Run(); }) {}

void Producer::Impl::Submit(AppendHints request) {
  auto* open = new Request(unanswered_, "appending to " + options_.hint_topic,
                           [this, id = request.id](Status status) {
                             if (on_hints_) on_hints_({id, std::move(status)});
                           });
  {
    const HeadersHandle headers =
        request.headers.empty() ? HeadersHandle() : ToHandle(request.headers, 0);
    const std::lock_guard lock(mutex_);
    for (const auto& [range, hint] : request.hints) {
      const std::string value = EncodeHint(hint);
      if (Send(options_.hint_topic, {range, {}, value, headers.get()}, open) !=
          RD_KAFKA_RESP_ERR_NO_ERROR)
        break;  // all of it must be appended again anyway
    }
  }
  open->AllAdded();
}

void Producer::Impl::Submit(AppendRelations request) {
  auto* open = new Request(unanswered_, "appending to " + options_.relation_topic,
                           [this, id = request.id](Status status) {
                             if (on_relations_) on_relations_({id, std::move(status)});
                           });
  {
    const std::lock_guard lock(mutex_);
    for (const RelationMessage& message : request.messages) {
      const std::string key = RelationLogKey(KeyOf(message));
      const std::string value = EncodeRelationMessage(message);
      if (Send(options_.relation_topic, {kAnyPartition, key, value, nullptr}, open) !=
          RD_KAFKA_RESP_ERR_NO_ERROR)
        break;  // all of it must be appended again anyway
    }
  }
  open->AllAdded();
}

void Producer::Impl::Submit(AppendRetries request) {
  auto* open = new Request(unanswered_, std::string("appending to ") + kRelationRetryTopic,
                           [this, id = request.id](Status status) {
                             if (on_retries_) on_retries_({id, std::move(status)});
                           });
  {
    const std::lock_guard lock(mutex_);
    for (const RelationRetry& retry : request.retries) {
      const std::string key = RelationLogKey(retry.edge);
      const std::string value = EncodeRelationRetry(retry);
      if (Send(kRelationRetryTopic, {kAnyPartition, key, value, nullptr}, open) !=
          RD_KAFKA_RESP_ERR_NO_ERROR)
        break;  // all of it must be appended again anyway
    }
  }
  open->AllAdded();
}

// A letter that the topic never takes as it is must not hold up its partition for ever: it is
// appended again without the record's key, value and headers, told apart by fanline-omitted. When
// even that is refused for good, an error line with the origin is what is left, and the letter
// counts as appended: the record still stands at its origin until the topic's retention, while a
// partition that stops for it loses all records behind it.
void Producer::Impl::Submit(AppendDeadLetter request) {
  auto letter = std::make_shared<const DeadLetter>(std::move(request.letter));
  const auto answer = [this, id = request.id](Status status) {
    if (on_dead_letter_) on_dead_letter_({id, std::move(status)});
  };
  SendDeadLetter(*letter, "", [this, letter, answer](Status whole) {
    if (!whole.never()) {
      answer(std::move(whole));
      return;
    }
    SendDeadLetter(*letter, whole.message, [this, letter, answer](Status origin_only) {
      if (origin_only.never()) {
        if (log_) {
          log_(LogLevel::kError, "kafka: a dead letter is lost: " + origin_only.message +
                                     "; the record stands at " + OriginOf(letter->record) +
                                     " until it is too old; " + letter->stage + ": " +
                                     letter->reason);
        }
        origin_only = Status::Done();
      }
      answer(std::move(origin_only));
    });
  });
}

// `omitted`: why the record itself is left out; empty: it is not.
void Producer::Impl::SendDeadLetter(const DeadLetter& letter, const std::string& omitted,
                                    std::function<void(Status)> reply) {
  const Record& record = letter.record;
  const std::string topic = DeadLetterTopic(record.topic);
  auto* open = new Request(unanswered_, "appending to " + topic, std::move(reply));
  const bool whole = omitted.empty();
  const HeadersHandle headers = ToHandle(whole ? record.headers : Headers(), 4);
  const auto add = [&](const char* name, const std::string& value) {
    rd_kafka_header_add(headers.get(), name, -1, value.data(), static_cast<ssize_t>(value.size()));
  };
  add(kReasonHeader, whole ? letter.reason : letter.reason.substr(0, kShortReason));
  add(kStageHeader, letter.stage);
  add(kOriginHeader, OriginOf(record));
  if (!whole) {
    add(kOmittedHeader, "value of " + std::to_string(record.value.size()) + " bytes, CRC-32 " +
                            std::to_string(Crc32(record.value)) + ": " + omitted);
  }
  {
    const std::lock_guard lock(mutex_);
    if (whole) {
      Send(topic, {kAnyPartition, record.key, record.value, headers.get()}, open);
    } else {
      Send(topic, {kAnyPartition, {}, {}, headers.get()}, open);
    }
  }
  open->AllAdded();
}

void Producer::Impl::Produce(const std::string& topic, const ProducerSession::Outgoing& record,
                             Reply reply) {
  auto* open = new Request(unanswered_, "appending to " + topic, std::move(reply));
  {
    const std::lock_guard lock(mutex_);
    Send(topic, record, open);
  }
  open->AllAdded();
}

// With mutex_ held.
rd_kafka_resp_err_t Producer::Impl::Send(const std::string& topic,
                                         const ProducerSession::Outgoing& record,
                                         Request* request) {
  request->Adding();
  const rd_kafka_resp_err_t error =
      session_ ? session_->Send(topic, record, request)
               : (closing_ ? RD_KAFKA_RESP_ERR__DESTROY : RD_KAFKA_RESP_ERR__FATAL);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) request->NotAdded(error);
  return error;
}

void Producer::Impl::Run() {
  std::unique_lock lock(mutex_);
  while (session_ || !closing_) {
    if (!session_ || session_->fatal()) {
      Renew(lock);
      continue;
    }
    const std::shared_ptr<ProducerSession> session = session_;
    lock.unlock();
    session->Serve(kServeWait);
    lock.lock();
    if (unanswered_.load(std::memory_order_acquire) == 0) changed_.notify_all();
  }
}

void Producer::Impl::Renew(std::unique_lock<std::mutex>& lock) {
  std::shared_ptr<ProducerSession> old = std::exchange(session_, nullptr);
  lock.unlock();
  if (old) End(std::move(old));
  lock.lock();
  changed_.wait_for(lock, kBetweenSessions, [this] { return closing_; });
  if (closing_) return;
  try {
    session_ = std::make_shared<ProducerSession>(options_, log_);
  } catch (const std::exception& error) {  // no threads or descriptors left: again in a while
    if (log_) log_(LogLevel::kError, std::string("kafka: no new producer: ") + error.what());
  }
}

// Every record of it is answered before it goes.
void Producer::Impl::End(std::shared_ptr<ProducerSession> session) {
  session->GiveUp();
  while (session->in_flight() > 0) session->Serve(std::chrono::milliseconds(20));
}

bool Producer::Impl::Flush(Duration limit) {
  const auto until = Clock::now() + limit;
  std::unique_lock lock(mutex_);
  // Looked at by time too: what is answered elsewhere notifies nobody.
  while (unanswered_.load(std::memory_order_acquire) > 0) {
    if (Clock::now() >= until) return false;
    changed_.wait_for(lock, std::chrono::milliseconds(10));
  }
  return true;
}

void Producer::Impl::Close(Duration limit) {
  if (!server_.joinable()) return;
  (void)Flush(limit);
  std::shared_ptr<ProducerSession> last;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    last = std::exchange(session_, nullptr);
    changed_.notify_all();
  }
  server_.join();
  if (last) End(std::move(last));
}

Producer::Producer(ProducerOptions options, HintsReply on_hints, DeadLetterReply on_dead_letter,
                   LogSink log, RelationsReply on_relations, RetriesReply on_retries)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(on_hints),
                                   std::move(on_dead_letter), std::move(log),
                                   std::move(on_relations), std::move(on_retries))) {}

Producer::~Producer() = default;

void Producer::Submit(AppendHints request) { impl_->Submit(std::move(request)); }
void Producer::Submit(AppendRelations request) { impl_->Submit(std::move(request)); }
void Producer::Submit(AppendRetries request) { impl_->Submit(std::move(request)); }
void Producer::Submit(AppendDeadLetter request) { impl_->Submit(std::move(request)); }

void Producer::Produce(const std::string& topic, int32_t partition, std::string_view key,
                       std::string_view value, const Headers& headers, Reply reply) {
  const HeadersHandle handle = headers.empty() ? HeadersHandle() : ToHandle(headers, 0);
  impl_->Produce(topic, {partition, key, value, handle.get()}, std::move(reply));
}

bool Producer::Flush(Duration limit) { return impl_->Flush(limit); }
void Producer::Close(Duration limit) { impl_->Close(limit); }

std::string DeadLetterTopic(std::string_view topic) { return std::string(topic) + ".dlq"; }

}  // namespace fanline::kafka
