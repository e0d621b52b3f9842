// A librdkafka message as the logic sees it. A key, value or header that is null reads as empty.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string>

#include "fanline/model/record.h"

namespace fanline::kafka {

// Copies; `topic` is the message's.
Record RecordOf(const rd_kafka_message_t& message, const std::string& topic);

}  // namespace fanline::kafka
