// How our Kafka clients reach the brokers.
#pragma once

#include <map>
#include <string>

#include "fanline/base/secret.h"

namespace fanline::kafka {

struct ClientOptions {
  std::string brokers;  // host:port,host:port
  std::string client_id = "fanline";
  // For SASL (security.protocol=SASL_SSL or SASL_PLAINTEXT). Empty user: no credentials are sent.
  std::string user;
  Secret password;  // never logged; read anew for each connection
  // librdkafka's own properties (security.protocol, sasl.*, ssl.*, statistics ...), applied over
  // our defaults. Properties that the delivery guarantees depend on are refused. Values are never
  // logged.
  std::map<std::string, std::string> properties;
};

}  // namespace fanline::kafka
