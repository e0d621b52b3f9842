// One librdkafka client with its settings, its log and a bounded destruction; its messages.
#pragma once

#include <atomic>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "backends/kafka/client_options.h"
#include "backends/kafka/fetch_rest.h"
#include "backends/kafka/handles.h"
#include "backends/kafka/security/credentials.h"
#include "fanline/base/log_limiter.h"
#include "fanline/base/log_sink.h"
#include "fanline/base/mono_now.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/record.h"

namespace fanline::kafka {

// What librdkafka's callbacks find behind rd_kafka_opaque(). It lives as long as the client, even
// one that is left behind.
struct ClientContext {
  explicit ClientContext(LogSink sink) : log(std::move(sink), MonoNow) {}
  LogLimiter log;
  std::unique_ptr<Credentials> credentials;
  std::atomic<rd_kafka_t*> client = nullptr;  // null at first: threads may connect already
  std::atomic<bool> fatal = false;            // the client is unusable
  void* owner = nullptr;                      // for callbacks that the owner's polls serve
  FetchRest rest;                             // used by a consumer

  // Why brokers refuse us, a kLater; done: none has since one answered. Calls only time out then,
  // as if no broker were there; the reason comes in a callback. Any thread.
  Status refusal() {
    const std::lock_guard lock(mutex);
    return refused;
  }
  void NoteRefusal(Status why) {
    const std::lock_guard lock(mutex);
    refused = std::move(why);
  }

  std::mutex mutex;
  Status refused;  // guarded by mutex
};

using Properties = std::initializer_list<std::pair<const char*, std::string>>;

class ClientConfig {
 public:
  // Applies our defaults for every client, `defaults`, options.properties and `fixed`, in this
  // order; later ones win. Throws Misconfigured when librdkafka refuses a property or
  // options.properties names one of `fixed`. The message names the property, never its value.
  ClientConfig(const ClientOptions& options, Properties defaults, Properties fixed);
  rd_kafka_conf_t* get() { return config_.get(); }

 private:
  friend class Client;
  void Set(const std::string& name, const std::string& value);
  ConfigHandle config_;
  std::unique_ptr<Credentials> credentials_;
};

class Client {
 public:
  // Throws Misconfigured when librdkafka cannot start (settings that contradict each other,
  // no threads). Brokers need not be there yet. `owner`: see ClientContext.
  Client(rd_kafka_type_t type, ClientConfig config, LogSink sink, void* owner);
  // Takes at most the destroy limit. A client that has not ended by then (librdkafka 2.0 may hang)
  // is left behind, silenced, until the process ends.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void SetDestroyLimit(Duration limit) { destroy_limit_ = limit; }

  rd_kafka_t* get() const { return handle_; }
  // The result of a call in words and as a Status, as in errors.h. When brokers refuse us, the
  // words say so.
  std::string Describe(rd_kafka_resp_err_t result) const;
  Status StatusOf(rd_kafka_resp_err_t result, std::string_view what) const;
  ClientContext& context() const { return *context_; }
  LogLimiter& log() const { return context_->log; }
  bool fatal() const { return context_->fatal.load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<ClientContext> context_;
  rd_kafka_t* handle_ = nullptr;
  Duration destroy_limit_ = std::chrono::seconds(5);
};

inline ClientContext& ContextOf(void* opaque) { return *static_cast<ClientContext*>(opaque); }

// A message as the logic sees it, copied; `topic` is the message's. A key, value or header that is
// null reads as empty.
Record RecordOf(const rd_kafka_message_t& message, const std::string& topic);

inline int ToMs(Duration duration) { return static_cast<int>(Milliseconds(duration)); }

}  // namespace fanline::kafka
