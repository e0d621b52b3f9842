// For tests: one end of a connection that speaks TLS like a node, and echoes what it receives. Its
// certificate and key are PEM files.
#pragma once

#include <string>
#include <thread>

namespace fanline::redis {

class TlsNode {
 public:
  // Serves `fd` on its own thread until the other end is closed.
  TlsNode(int fd, std::string certificate, std::string key);
  ~TlsNode();  // waits until then
  TlsNode(const TlsNode&) = delete;
  TlsNode& operator=(const TlsNode&) = delete;

 private:
  std::thread thread_;
};

}  // namespace fanline::redis
