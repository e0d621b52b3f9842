#include "backends/kafka/producer.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "backends/kafka/errors.h"
#include "backends/kafka/producer_session.h"
#include "fanline/model/bucket.h"
#include "fanline/wire/dead_letter.h"
#include "fanline/wire/event_codec.h"

namespace fanline::kafka {
namespace {

constexpr Duration kServeWait = std::chrono::milliseconds(100);
constexpr Duration kBetweenSessions = std::chrono::milliseconds(500);
constexpr size_t kShortReason = 1024;  // for a letter without its record

}  // namespace

// One request. It deletes itself when its last record is answered. `open_` counts the records under
// way, plus one while Submit still adds records.
class AppendRequest : public Delivery {
 public:
  // `unanswered` counts the requests not answered yet.
  AppendRequest(std::atomic<size_t>& unanswered, std::string what)
      : unanswered_(unanswered), what_(std::move(what)) {
    unanswered_.fetch_add(1, std::memory_order_relaxed);
  }
  virtual ~AppendRequest() = default;

  void Adding() { open_.fetch_add(1, std::memory_order_relaxed); }
  // Who is told the result of the next record.
  virtual Delivery* Next() { return this; }
  // That record could not be queued.
  virtual void NotAdded(rd_kafka_resp_err_t why) {
    open_.fetch_sub(1, std::memory_order_relaxed);
    refused_ = Worse(refused_, why);
  }
  void AllAdded() { Answered(); }

  void OnRecord(rd_kafka_resp_err_t result) override {
    failed_ = Worse(failed_, result);
    Answered();
  }

 protected:
  Status StatusFor(rd_kafka_resp_err_t result) const { return StatusOf(result, what_); }

 private:
  // kNever wins over kLater: a retry does not help.
  static rd_kafka_resp_err_t Worse(rd_kafka_resp_err_t before, rd_kafka_resp_err_t result) {
    const bool stays =
        result == RD_KAFKA_RESP_ERR_NO_ERROR || MeaningOf(before).outcome == Outcome::kNever;
    return stays ? before : result;
  }
  void Answered() {
    if (open_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    Tell(StatusFor(Worse(failed_, refused_)));
    unanswered_.fetch_sub(1, std::memory_order_release);
    delete this;
  }
  virtual void Tell(Status status) = 0;  // the requester

  std::atomic<size_t>& unanswered_;
  const std::string what_;
  std::atomic<uint32_t> open_ = 1;
  rd_kafka_resp_err_t refused_ = RD_KAFKA_RESP_ERR_NO_ERROR;  // the submitting thread's
  rd_kafka_resp_err_t failed_ = RD_KAFKA_RESP_ERR_NO_ERROR;   // the serving thread's
};

namespace {

// Reports for each hint whether it was acknowledged.
class HintsRequest final : public AppendRequest {
 public:
  HintsRequest(std::atomic<size_t>& unanswered, std::string what, uint64_t id, size_t hints,
               ReplyTo<HintsAppended> to)
      : AppendRequest(unanswered, std::move(what)), id_(id), to_(to) {
    hints_.reserve(hints);
    for (size_t hint = 0; hint < hints; ++hint) hints_.emplace_back(*this, hint);
  }

  Delivery* Next() override { return &hints_[given_++]; }
  void NotAdded(rd_kafka_resp_err_t why) override {
    refused_.push_back({given_ - 1, StatusFor(why)});
    AppendRequest::NotAdded(why);
  }

 private:
  class One final : public Delivery {
   public:
    One(HintsRequest& request, size_t hint) : request_(request), hint_(hint) {}
    void OnRecord(rd_kafka_resp_err_t result) override {
      if (result != RD_KAFKA_RESP_ERR_NO_ERROR)
        request_.failed_.push_back({hint_, request_.StatusFor(result)});
      request_.OnRecord(result);
    }

   private:
    HintsRequest& request_;
    const size_t hint_;
  };

  // Hints after a full queue were not even tried.
  void Tell(Status status) override {
    failed_.insert(failed_.end(), refused_.begin(), refused_.end());
    for (size_t hint = given_; hint < hints_.size(); ++hint)
      failed_.push_back({hint, refused_.back().status});
    std::sort(failed_.begin(), failed_.end(),
              [](const auto& a, const auto& b) { return a.hint < b.hint; });
    to_({id_, std::move(status), std::move(failed_)});
  }

  const uint64_t id_;
  const ReplyTo<HintsAppended> to_;
  std::vector<One> hints_;
  size_t given_ = 0;                            // the submitting thread's
  std::vector<HintsAppended::Failed> refused_;  // the same; in their order
  std::vector<HintsAppended::Failed> failed_;   // the serving thread's
};

class CallingRequest final : public AppendRequest {
 public:
  CallingRequest(std::atomic<size_t>& unanswered, std::string what, Producer::Reply reply)
      : AppendRequest(unanswered, std::move(what)), reply_(std::move(reply)) {}

 private:
  void Tell(Status status) override {
    if (reply_) reply_(std::move(status));
  }

  const Producer::Reply reply_;
};

struct Keyed {
  int32_t partition = kAnyPartition;
  std::string key, value;
  const Headers* headers = nullptr;  // null: none
};

}  // namespace

Producer::Producer(ProducerOptions options, LogSink log)
    : options_(std::move(options)),
      log_(std::move(log)),
      session_(std::make_shared<ProducerSession>(options_, log_)),
      server_([this] { Run(); }) {}

Producer::~Producer() { Close(std::chrono::seconds(10)); }

template <class Items, class Appended, class F>
void Producer::Append(const std::string& topic, const Items& items, uint64_t id,
                      ReplyTo<Appended> to, F keyed) {
  const auto answer = [id, to](Status status) { to({id, std::move(status)}); };
  SendAll(topic, items, new CallingRequest(unanswered_, "appending to " + topic, answer), keyed);
}

void Producer::Submit(AppendHints request, ReplyTo<HintsAppended> to) {
  const std::string& topic = options_.hint_topic;
  auto* open =
      new HintsRequest(unanswered_, "appending to " + topic, request.id, request.hints.size(), to);
  SendAll(topic, request.hints, open, [&](const auto& item) {
    const auto index = static_cast<size_t>(&item - request.hints.data());
    const Headers* headers = request.headers.empty() ? nullptr : request.headers.at(index).get();
    return Keyed{item.first, {}, EncodeHint(item.second), headers};
  });
}

template <class Items, class F>
void Producer::SendAll(const std::string& topic, const Items& items, AppendRequest* open, F keyed) {
  {
    const Headers* made = nullptr;  // hints of one event share theirs
    HeadersHandle handle;
    const std::lock_guard lock(mutex_);
    for (const auto& item : items) {
      const Keyed record = keyed(item);
      if (record.headers != made) {
        made = record.headers;
        handle = made == nullptr || made->empty() ? HeadersHandle() : ToHandle(*made, 0);
      }
      // A full queue stays full meanwhile.
      if (!Send(topic, {record.partition, record.key, record.value, handle.get()}, open)) break;
    }
  }
  open->AllAdded();
}

// A letter that the topic never takes must not block its partition for ever. It is appended again
// without the record's key, value and headers, and carries fanline-omitted. When even that is
// refused for good, an error line names the origin and the letter counts as appended: the record
// stays at its origin until retention removes it, whereas a blocked partition would lose all
// records after it.
void Producer::Submit(AppendDeadLetter request, ReplyTo<DeadLetterAppended> to) {
  auto letter = std::make_shared<const DeadLetter>(std::move(request.letter));
  const auto answer = [to, id = request.id](Status status) { to({id, std::move(status)}); };
  SendDeadLetter(*letter, "", [this, letter, answer](Status whole) {
    if (!whole.never()) {
      answer(std::move(whole));
      return;
    }
    SendDeadLetter(*letter, whole.message, [this, letter, answer](Status origin_only) {
      if (origin_only.never()) {
        if (log_) {
          log_(LogLevel::kError, "kafka: a dead letter is lost: " + origin_only.message +
                                     "; the record stands at " + ToString(PlaceOf(letter->record)) +
                                     " until it is too old; " + letter->stage + ": " +
                                     letter->reason);
        }
        origin_only = Status::Done();
      }
      answer(std::move(origin_only));
    });
  });
}

// `omitted`: why the record itself is left out; empty: it is included.
void Producer::SendDeadLetter(const DeadLetter& letter, const std::string& omitted, Reply reply) {
  const Record& record = letter.record;
  const std::string topic = DeadLetterTopic(record.topic);
  auto* open = new CallingRequest(unanswered_, "appending to " + topic, std::move(reply));
  const bool whole = omitted.empty();
  const HeadersHandle headers = ToHandle(whole ? record.headers : Headers(), 5);
  const auto add = [&](const char* name, const std::string& value) {
    rd_kafka_header_add(headers.get(), name, -1, value.data(), static_cast<ssize_t>(value.size()));
  };
  add(kReasonHeader, whole ? letter.reason : letter.reason.substr(0, kShortReason));
  add(kStageHeader, letter.stage);
  add(kOriginHeader, ToString(PlaceOf(record)));
  const bool says_when = whole && HeaderOf(record, kFirstAppendedHeader);
  if (const UnixMs first = FirstAppended(record); first > 0 && !says_when)
    add(kFirstAppendedHeader, std::to_string(first));
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

void Producer::Produce(const std::string& topic, int32_t partition, std::string_view key,
                       std::string_view value, const Headers& headers, Reply reply) {
  const HeadersHandle handle = headers.empty() ? HeadersHandle() : ToHandle(headers, 0);
  auto* open = new CallingRequest(unanswered_, "appending to " + topic, std::move(reply));
  {
    const std::lock_guard lock(mutex_);
    Send(topic, {partition, key, value, handle.get()}, open);
  }
  open->AllAdded();
}

bool Producer::Send(const std::string& topic, const Outgoing& record, AppendRequest* request) {
  request->Adding();
  Delivery* delivery = request->Next();
  const rd_kafka_resp_err_t error =
      session_ ? session_->Send(topic, record, delivery)
               : (closing_ ? RD_KAFKA_RESP_ERR__DESTROY : RD_KAFKA_RESP_ERR__FATAL);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) request->NotAdded(error);
  return MeaningOf(error).outcome != Outcome::kLater;
}

void Producer::Run() {
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

void Producer::Renew(std::unique_lock<std::mutex>& lock) {
  std::shared_ptr<ProducerSession> old = std::exchange(session_, nullptr);
  lock.unlock();
  if (old) End(std::move(old));
  lock.lock();
  changed_.wait_for(lock, kBetweenSessions, [this] { return closing_; });
  if (closing_) return;
  try {
    session_ = std::make_shared<ProducerSession>(options_, log_);
  } catch (const std::exception& error) {  // no threads or descriptors left: retried
    if (log_) log_(LogLevel::kError, std::string("kafka: no new producer: ") + error.what());
  }
}

// Answers every record of the session before it is destroyed.
void Producer::End(std::shared_ptr<ProducerSession> session) {
  session->GiveUp();
  while (session->in_flight() > 0) session->Serve(std::chrono::milliseconds(20));
}

bool Producer::Flush(Duration limit) {
  const auto until = Clock::now() + limit;
  std::unique_lock lock(mutex_);
  // Polls, since answers given by other threads do not notify.
  while (unanswered_.load(std::memory_order_acquire) > 0) {
    if (Clock::now() >= until) return false;
    changed_.wait_for(lock, std::chrono::milliseconds(10));
  }
  return true;
}

void Producer::Close(Duration limit) {
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

void Producer::Submit(AppendRelations request, ReplyTo<RelationsAppended> to) {
  const auto headers_of = [&](const RelationMessage& message) {
    const auto index = static_cast<size_t>(&message - request.messages.data());
    return request.headers.empty() ? nullptr : &request.headers.at(index);
  };
  Append(options_.relation_topic, request.messages, request.id, to,
         [&](const RelationMessage& message) {
           return Keyed{.key = RelationLogKey(KeyOf(message)),
                        .value = EncodeRelationMessage(message),
                        .headers = headers_of(message)};
         });
}

void Producer::Submit(AppendRetries request, ReplyTo<RetriesAppended> to) {
  Append(kRelationRetryTopic, request.retries, request.id, to, [](const RelationRetry& retry) {
    return Keyed{.key = RelationLogKey(retry.edge), .value = EncodeRelationRetry(retry)};
  });
}

void Producer::Submit(AppendEvent request, ReplyTo<EventAppended> to) {
  static const Headers headers = {{"content-type", std::string(kJsonContentType)}};
  const std::array events = {std::move(request)};
  Append(options_.feed_topic, events, events[0].id, to, [](const AppendEvent& append) {
    return Keyed{.key = ToString(append.event.post),
                 .value = append.json.empty() ? EncodeEventJson(append.event) : append.json,
                 .headers = &headers};
  });
}

}  // namespace fanline::kafka
