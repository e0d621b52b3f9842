// The name and password that a client shows to brokers that ask for them (SASL's PLAIN and SCRAM).
// librdkafka connects by itself, so the password's file is read by whoever is about to connect: a
// new password holds from the next connection on, without a new client.
#pragma once

#include <librdkafka/rdkafka.h>

#include <mutex>
#include <string>

#include "fanline/base/secret.h"

namespace fanline::kafka {

class Credentials {
 public:
  // An empty user: none are shown.
  Credentials(std::string user, Secret password);

  bool given() const { return !user_.empty(); }
  bool may_change() const { return given() && !password_.file.empty(); }

  // The password as it is now; one that nobody has, while its file cannot be read.
  std::string Password();

  // Reads the file again and gives the client what is new. Answers what is wrong with the file,
  // which leaves the client with what it had. Any thread, also one of the client's that holds none
  // of its locks.
  [[nodiscard]] std::string Refresh(rd_kafka_t* client);

  const std::string& user() const { return user_; }

 private:
  const std::string user_;
  const Secret password_;
  std::mutex mutex_;
  std::string known_;  // guarded by mutex_: the password that the client has
};

}  // namespace fanline::kafka
