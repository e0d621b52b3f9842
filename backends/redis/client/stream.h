// The bytes of one connection to a node: plain, or TLS when the options say so. TLS is ours, by
// OpenSSL, whatever the client library of Redis can do (docs/decisions/0020). The node must prove
// the name or address that it was reached by.
//
// One thread. Never blocks on a descriptor that does not.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "backends/redis/client/options.h"

struct ssl_st;

namespace fanline::redis {

class Stream {
 public:
  enum class Greeting { kDone, kAgain, kFailed };

  // `fd` is connected, stays its owner's and outlives the stream.
  Stream(const Options& options, int fd);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // What must be done before the first byte; again whenever poll(2) says that wants() is there.
  [[nodiscard]] Greeting Greet();
  short wants() const { return wants_; }

  // As send(2) and recv(2): -1 with EAGAIN, also when a timeout of the descriptor is over.
  [[nodiscard]] ssize_t Send(const char* bytes, size_t size);
  [[nodiscard]] ssize_t Receive(char* bytes, size_t size);

  // What failed, of the call that just did.
  std::string failure() const;

 private:
  bool BeginTls(const Options& options);
  ssize_t Judged(int result);
  void Refuse(std::string why);

  const int fd_;
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> tls_;
  short wants_;
  std::string failure_;  // of TLS, for good; else errno tells
};

}  // namespace fanline::redis
