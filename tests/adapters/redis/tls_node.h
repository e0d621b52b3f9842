// For tests: one end of a connection that speaks TLS as a node does, and sends back what it is
// sent. It proves itself by files of PEM.
#pragma once

#include <string>
#include <thread>

namespace fanline::redis {

class TlsNode {
 public:
  // Serves `fd` from a thread of its own, until the other end is closed.
  TlsNode(int fd, std::string certificate, std::string key);
  ~TlsNode();  // waits for that
  TlsNode(const TlsNode&) = delete;
  TlsNode& operator=(const TlsNode&) = delete;

 private:
  std::thread thread_;
};

}  // namespace fanline::redis
