#include "backends/kafka/client.h"

#include <sys/socket.h>

#include <algorithm>
#include <future>
#include <thread>

#include "backends/kafka/errors.h"
#include "fanline/base/misconfigured.h"

namespace fanline::kafka {
namespace {

LogLevel FromSyslog(int level) {
  if (level <= 2) return LogLevel::kError;
  if (level <= 4) return LogLevel::kWarn;
  return level <= 6 ? LogLevel::kInfo : LogLevel::kDebug;
}

void OnLog(const rd_kafka_t* client, int level, const char* facility, const char* text) {
  ContextOf(rd_kafka_opaque(client))
      .log.Log(FromSyslog(level), std::string("log ") + facility,
               std::string("kafka: ") + facility + ": " + text);
}

void OnError(rd_kafka_t* client, int code, const char* reason, void* opaque) {
  ClientContext& context = ContextOf(opaque);
  auto error = static_cast<rd_kafka_resp_err_t>(code);
  if (error == RD_KAFKA_RESP_ERR__FATAL) {
    char text[512] = "";
    error = rd_kafka_fatal_error(client, text, sizeof text);
    context.fatal.store(true, std::memory_order_relaxed);
    context.log.Log(LogLevel::kError, "kafka: fatal: " + Describe(error) + ": " + text);
    return;
  }
  if (error == RD_KAFKA_RESP_ERR__AUTHENTICATION || error == RD_KAFKA_RESP_ERR__SSL) {
    Status why = StatusOf(error, "");
    why.message = Describe(error) + ": " + reason;
    context.NoteRefusal(std::move(why));
  }
  context.log.Log(LogLevel::kWarn, std::string("error ") + rd_kafka_err2name(error),
                  "kafka: " + Describe(error) + ": " + reason);
}

// Called when a broker's thread is about to connect. The thread holds no lock of the client here.
// In a connect_cb it does, and setting the credentials would deadlock.
int OnSocket(int domain, int type, int protocol, void* opaque) {
  ClientContext& context = ContextOf(opaque);
  if (rd_kafka_t* client = context.client) {
    const std::string wrong = context.credentials->Refresh(client);
    if (!wrong.empty()) {
      context.log.Log(LogLevel::kWarn, "password", "kafka: the password's file " + wrong);
    }
  }
  return socket(domain, type | SOCK_CLOEXEC, protocol);
}

// Ends the client in a separate thread, since it may hang. False: it did not end in time.
bool DestroyWithin(rd_kafka_t* client, std::shared_ptr<ClientContext> context, Duration limit) {
  auto ended = std::make_shared<std::promise<void>>();
  std::future<void> end = ended->get_future();
  std::thread thread([client, context, ended] {
    rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    ended->set_value();
  });
  const bool in_time = end.wait_for(limit) == std::future_status::ready;
  in_time ? thread.join() : thread.detach();
  return in_time;
}

Headers HeadersOf(const rd_kafka_message_t& message) {
  Headers headers;
  rd_kafka_headers_t* raw = nullptr;
  if (rd_kafka_message_headers(&message, &raw) != RD_KAFKA_RESP_ERR_NO_ERROR) return headers;
  headers.reserve(rd_kafka_header_cnt(raw));
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  for (size_t i = 0;
       rd_kafka_header_get_all(raw, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
    headers.emplace_back(name, std::string(static_cast<const char*>(value), size));
  return headers;
}

}  // namespace

ClientConfig::ClientConfig(const ClientOptions& options, Properties defaults, Properties fixed)
    : config_(rd_kafka_conf_new()),
      credentials_(std::make_unique<Credentials>(options.user, options.password)) {
  Set("bootstrap.servers", options.brokers);
  Set("client.id", options.client_id);
  Set("log.connection.close", "false");  // brokers often close idle ones
  Set("socket.timeout.ms", "10000");     // limit of a request to a broker that hangs
  Set("socket.keepalive.enable", "true");
  Set("socket.nagle.disable", "true");
  Set("reconnect.backoff.max.ms", "2000");
  Set("topic.metadata.refresh.interval.ms", "10000");  // notices a missing topic
  for (const auto& [name, value] : defaults) Set(name, value);
  for (const auto& [name, value] : options.properties) {
    const bool ours = std::any_of(fixed.begin(), fixed.end(),
                                  [&](const auto& property) { return property.first == name; });
    if (ours) throw Misconfigured("kafka property " + name + " is fixed: delivery depends on it");
    Set(name, value);
  }
  for (const auto& [name, value] : fixed) Set(name, value);
  if (credentials_->given()) {
    Set("sasl.username", credentials_->user());
    Set("sasl.password", credentials_->Password());
    if (credentials_->may_change()) rd_kafka_conf_set_socket_cb(config_.get(), OnSocket);
  }
  rd_kafka_conf_set_log_cb(config_.get(), OnLog);
  rd_kafka_conf_set_error_cb(config_.get(), OnError);
}

void ClientConfig::Set(const std::string& name, const std::string& value) {
  switch (rd_kafka_conf_set(config_.get(), name.c_str(), value.c_str(), nullptr, 0)) {
    case RD_KAFKA_CONF_OK:
      return;
    case RD_KAFKA_CONF_UNKNOWN:
      throw Misconfigured("kafka property " + name + " does not exist");
    case RD_KAFKA_CONF_INVALID:
      throw Misconfigured("kafka property " + name + " does not take its value");
  }
}

Client::Client(rd_kafka_type_t type, ClientConfig config, LogSink sink, void* owner)
    : context_(std::make_shared<ClientContext>(std::move(sink))) {
  context_->owner = owner;
  context_->credentials = std::move(config.credentials_);
  rd_kafka_conf_set_opaque(config.get(), context_.get());
  char why[512] = "";
  handle_ = rd_kafka_new(type, config.get(), why, sizeof why);
  if (handle_ == nullptr) throw Misconfigured(std::string("kafka client: ") + why);
  config.config_.release();  // rd_kafka_new owns it now
  context_->client = handle_;
}

std::string Client::Describe(rd_kafka_resp_err_t result) const {
  if (result == RD_KAFKA_RESP_ERR_NO_ERROR) context_->NoteRefusal(Status::Done());
  const Status refusal = context_->refusal();
  return kafka::Describe(result) + (refusal.done() ? "" : ": " + refusal.message);
}

Status Client::StatusOf(rd_kafka_resp_err_t result, std::string_view what) const {
  Status status = kafka::StatusOf(result, what);
  const std::string words = Describe(result);
  if (!status.later()) return status;
  status.message = std::string(what) + ": " + words;
  if (const Status refusal = context_->refusal(); !refusal.done()) {
    status.cause = refusal.cause;
    status.advice = refusal.advice;
  }
  return status;
}

Client::~Client() {
  if (DestroyWithin(handle_, context_, destroy_limit_)) return;
  log().Log(LogLevel::kError, "kafka: the client did not end in time and is left behind");
  log().Silence();
}

Record RecordOf(const rd_kafka_message_t& message, const std::string& topic) {
  Record record{.topic = topic, .partition = message.partition, .offset = message.offset};
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const int64_t timestamp = rd_kafka_message_timestamp(&message, &type);
  if (type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE) record.timestamp = timestamp;
  record.key.assign(static_cast<const char*>(message.key), message.key_len);
  record.value.assign(static_cast<const char*>(message.payload), message.len);
  record.headers = HeadersOf(message);
  return record;
}

}  // namespace fanline::kafka
