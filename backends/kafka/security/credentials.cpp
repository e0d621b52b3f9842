#include "backends/kafka/security/credentials.h"

#include <utility>

namespace fanline::kafka {
namespace {

constexpr const char* kNone = "-";  // librdkafka does not start with an empty one

}  // namespace

Credentials::Credentials(std::string user, Secret password)
    : user_(std::move(user)), password_(std::move(password)) {}

std::string Credentials::Password() {
  const std::lock_guard lock(mutex_);
  known_ = kNone;
  (void)password_.Read(&known_);  // a connection attempt reports what is wrong
  return known_;
}

std::string Credentials::Refresh(rd_kafka_t* client) {
  std::string now;
  if (std::string wrong = password_.Read(&now); !wrong.empty()) return wrong;
  const std::lock_guard lock(mutex_);
  if (now == known_) return {};
  // Fails only when an argument is missing.
  rd_kafka_error_destroy(rd_kafka_sasl_set_credentials(client, user_.c_str(), now.c_str()));
  known_ = std::move(now);
  return {};
}

}  // namespace fanline::kafka
