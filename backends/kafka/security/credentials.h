// The name and password with which a client authenticates to brokers (SASL's PLAIN and SCRAM). The
// password's file is read again before each connection, so a new password needs no new client.
#pragma once

#include <librdkafka/rdkafka.h>

#include <mutex>
#include <string>
#include <utility>

#include "fanline/base/secret.h"

namespace fanline::kafka {

class Credentials {
 public:
  // An empty user: no credentials are sent.
  Credentials(std::string user, Secret password)
      : user_(std::move(user)), password_(std::move(password)) {}

  bool given() const { return !user_.empty(); }
  bool may_change() const { return given() && !password_.file.empty(); }

  // The password as it is now; while its file cannot be read, one that is never right.
  std::string Password() {
    const std::lock_guard lock(mutex_);
    known_ = "-";                   // librdkafka does not start with an empty one
    (void)password_.Read(&known_);  // a connection attempt reports what is wrong
    return known_;
  }

  // Reads the file again and gives the client a changed password. Returns what is wrong with the
  // file, if anything; the client then keeps its password. Any thread that holds no lock of the
  // client.
  [[nodiscard]] std::string Refresh(rd_kafka_t* client) {
    std::string now;
    if (std::string wrong = password_.Read(&now); !wrong.empty()) return wrong;
    const std::lock_guard lock(mutex_);
    if (now == known_) return {};
    // Fails only when an argument is missing.
    rd_kafka_error_destroy(rd_kafka_sasl_set_credentials(client, user_.c_str(), now.c_str()));
    known_ = std::move(now);
    return {};
  }

  const std::string& user() const { return user_; }

 private:
  const std::string user_;
  const Secret password_;
  std::mutex mutex_;
  std::string known_;  // guarded by mutex_: the password that the client has
};

}  // namespace fanline::kafka
