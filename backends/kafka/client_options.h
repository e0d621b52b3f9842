// How every Kafka client of ours reaches the brokers.
#pragma once

#include <map>
#include <string>

#include "fanline/base/secret.h"

namespace fanline::kafka {

struct ClientOptions {
  std::string brokers;  // host:port,host:port
  std::string client_id = "fanline";
  // For brokers that ask (security.protocol=SASL_SSL or SASL_PLAINTEXT); no user: none is shown.
  std::string user;
  Secret password;  // never logged; read for each connection
  // librdkafka's own properties (security.protocol, sasl.*, ssl.*, statistics ...), applied over
  // our defaults. Those that carry the delivery guarantees are ours alone: naming one of them
  // here is refused. Values are never logged.
  std::map<std::string, std::string> properties;
};

}  // namespace fanline::kafka
