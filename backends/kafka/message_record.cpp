#include "backends/kafka/message_record.h"

namespace fanline::kafka {
namespace {

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

Record RecordOf(const rd_kafka_message_t& message, const std::string& topic) {
  Record record;
  record.topic = topic;
  record.partition = message.partition;
  record.offset = message.offset;
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const int64_t timestamp = rd_kafka_message_timestamp(&message, &type);
  if (type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE) record.timestamp = timestamp;
  record.key.assign(static_cast<const char*>(message.key), message.key_len);
  record.value.assign(static_cast<const char*>(message.payload), message.len);
  record.headers = HeadersOf(message);
  return record;
}

}  // namespace fanline::kafka
