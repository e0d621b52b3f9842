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
class AppendRequest {
 public:
  using Failures = std::vector<HintsAppended::Failed>;  // in the order of the records
  using Tell = std::function<void(Status worst, Failures failed)>;

  // `unanswered` counts the requests not answered yet. At most so many `records` are added.
  AppendRequest(std::atomic<size_t>& unanswered, const std::string& topic, size_t records,
                Tell tell)
      : unanswered_(unanswered), what_("appending to " + topic), tell_(std::move(tell)) {
    unanswered_.fetch_add(1, std::memory_order_relaxed);
    records_.reserve(records);
    for (size_t record = 0; record < records; ++record) records_.emplace_back(*this, record);
  }

  // Who is told the result of the next record.
  Delivery* Next() {
    open_.fetch_add(1, std::memory_order_relaxed);
    return &records_[given_++];
  }
  // That record could not be queued.
  void NotAdded(rd_kafka_resp_err_t why) {
    open_.fetch_sub(1, std::memory_order_relaxed);
    refused_.push_back({given_ - 1, StatusOf(why, what_)});
  }
  void AllAdded() { Answered(); }

 private:
  class One final : public Delivery {
   public:
    One(AppendRequest& request, size_t record) : request_(request), record_(record) {}
    void OnRecord(rd_kafka_resp_err_t result) override {
      if (result != RD_KAFKA_RESP_ERR_NO_ERROR)
        request_.failed_.push_back({record_, StatusOf(result, request_.what_)});
      request_.Answered();
    }

   private:
    AppendRequest& request_;
    const size_t record_;
  };

  void Answered() {
    if (open_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    failed_.insert(failed_.end(), refused_.begin(), refused_.end());
    Status worst;  // kNever wins over kLater: a retry does not help
    for (const HintsAppended::Failed& each : failed_)
      if (!worst.never()) worst = each.status;
    // Records behind a full queue were not even tried.
    for (size_t record = given_; record < records_.size(); ++record)
      failed_.push_back({record, refused_.back().status});
    std::sort(failed_.begin(), failed_.end(),
              [](const auto& a, const auto& b) { return a.hint < b.hint; });
    tell_(std::move(worst), std::move(failed_));
    unanswered_.fetch_sub(1, std::memory_order_release);
    delete this;
  }

  std::atomic<size_t>& unanswered_;
  const std::string what_;
  const Tell tell_;  // the requester
  std::atomic<uint32_t> open_ = 1;
  std::vector<One> records_;
  size_t given_ = 0;  // the submitting thread's, as is the next
  Failures refused_;
  Failures failed_;  // the serving thread's
};

namespace {

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
  const auto tell = [id, to](Status worst, const auto&) { to({id, std::move(worst)}); };
  SendAll(topic, items, new AppendRequest(unanswered_, topic, items.size(), tell), keyed);
}

void Producer::Submit(AppendHints request, ReplyTo<HintsAppended> to) {
  const std::string& topic = options_.hint_topic;
  const auto tell = [id = request.id, to](Status worst, AppendRequest::Failures failed) {
    to({id, std::move(worst), std::move(failed)});
  };
  auto* open = new AppendRequest(unanswered_, topic, request.hints.size(), tell);
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
  const auto kept = [whole](const std::string& text) {
    return whole ? std::string_view(text) : std::string_view();  // a null, not an empty text
  };
  SendOne(topic, {kAnyPartition, kept(record.key), kept(record.value), headers.get()},
          std::move(reply));
}

void Producer::Produce(const std::string& topic, int32_t partition, std::string_view key,
                       std::string_view value, const Headers& headers, Reply reply) {
  const HeadersHandle handle = headers.empty() ? HeadersHandle() : ToHandle(headers, 0);
  SendOne(topic, {partition, key, value, handle.get()}, std::move(reply));
}

void Producer::SendOne(const std::string& topic, const Outgoing& record, Reply reply) {
  const auto tell = [reply = std::move(reply)](Status worst, const auto&) {
    if (reply) reply(std::move(worst));
  };
  auto* open = new AppendRequest(unanswered_, topic, 1, tell);
  {
    const std::lock_guard lock(mutex_);
    Send(topic, record, open);
  }
  open->AllAdded();
}

bool Producer::Send(const std::string& topic, const Outgoing& record, AppendRequest* request) {
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
