// For tests: one end of a connection that speaks TLS like a node, and echoes what it receives. Its
// certificate and key are PEM files.
#pragma once

#include <future>
#include <string>
#include <thread>

namespace fanline::redis {

class TlsNode {
 public:
  // Serves `fd` on its own thread until the other end is closed.
  TlsNode(int fd, std::string certificate, std::string key);
  ~TlsNode();  // waits until then
  // The name that its client expects (SNI), or empty. Waits for the greeting; once.
  std::string asked_for() { return asked_for_.get_future().get(); }
  TlsNode(const TlsNode&) = delete;
  TlsNode& operator=(const TlsNode&) = delete;

 private:
  std::promise<std::string> asked_for_;
  std::thread thread_;
};

}  // namespace fanline::redis
