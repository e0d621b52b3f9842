// The bytes of one connection to a node: plain, or TLS when the options say so. TLS is OpenSSL's,
// not the Redis client library's (docs/decisions/0020). The node must prove the name or address by
// which it was reached; one that was reached by address may prove the name that it announces, or
// that of a seed, instead. It is told which name is expected (SNI): the one by which it was
// reached, else the one that it announces, else none. One thread. Never blocks if the descriptor
// does not.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/redis/client/options.h"

struct ssl_st;

namespace fanline::redis {

class Stream {
 public:
  enum class Greeting { kDone, kAgain, kFailed };

  // `fd` is connected, belongs to the caller and outlives the stream.
  Stream(const Options& options, int fd);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Call before the first byte, and on kAgain whenever poll(2) reports wants().
  [[nodiscard]] Greeting Greet();
  short wants() const { return wants_; }

  // Like send(2) and recv(2): -1 with EAGAIN.
  [[nodiscard]] ssize_t Send(const char* bytes, size_t size);
  [[nodiscard]] ssize_t Receive(char* bytes, size_t size);

  // Why the last call failed.
  std::string failure() const;

 private:
  bool BeginTls(const Options& options);
  ssize_t Judged(int result);
  void Refuse(std::string why);

  const int fd_;
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> tls_;
  std::vector<std::string> identities_;  // with TLS: the node must prove one
  short wants_;
  std::string failure_;  // of TLS, permanent; else see errno
};

}  // namespace fanline::redis
