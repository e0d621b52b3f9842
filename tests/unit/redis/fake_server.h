// A server on a loopback port that speaks the Redis protocol. The test gives its answers.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fanline/base/endpoint.h"
#include "tests/support/hanging_host.h"

namespace fanline::redis {

// A text as a reply.
inline std::string Bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

class FakeServer {
 public:
  using Words = std::vector<std::string>;
  static constexpr const char* kHangUp = "hang up";
  // The reply's bytes, or kHangUp; called from the server's threads.
  using Answer = std::function<std::string(const Words& command)>;

  explicit FakeServer(Answer answer)
      : answer_(std::move(answer)), acceptor_([this] { Accept(); }) {}
  // Its clients must have gone before.
  ~FakeServer() {
    shutdown(host_.listener(), SHUT_RDWR);
    acceptor_.join();
    for (std::thread& session : sessions_) session.join();
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  Endpoint address() const { return host_.address(); }

 private:
  void Accept() {
    for (int fd = 0; (fd = accept(host_.listener(), nullptr, nullptr)) >= 0;) {
      sessions_.emplace_back([this, fd] {
        Serve(fd);
        close(fd);
      });
    }
  }

  void Serve(int fd) const {
    std::string got;
    char bytes[4096];
    for (ssize_t size = 0; (size = recv(fd, bytes, sizeof bytes, 0)) > 0;) {
      got.append(bytes, static_cast<size_t>(size));
      Words command;
      while (TakeCommand(got, command)) {
        const std::string reply = answer_(command);
        if (reply == kHangUp) return;
        if (send(fd, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return;
      }
    }
  }

  // "*2\r\n$4\r\nINFO\r\n$7\r\ncluster\r\n"
  static bool TakeCommand(std::string& got, Words& command) {
    size_t at = 0;
    const auto number = [&](char kind, size_t& value) {
      const size_t end = got.find("\r\n", at);
      if (end == std::string::npos || got[at] != kind) return false;
      value = std::stoul(got.substr(at + 1, end - at - 1));
      at = end + 2;
      return true;
    };
    size_t count = 0;
    command.clear();
    if (got.empty() || !number('*', count)) return false;
    for (size_t i = 0; i < count; ++i) {
      size_t size = 0;
      if (at >= got.size() || !number('$', size) || got.size() < at + size + 2) return false;
      command.push_back(got.substr(at, size));
      at += size + 2;
    }
    got.erase(0, at);
    return true;
  }

  const Answer answer_;
  const HangingHost host_;             // until somebody accepts
  std::vector<std::thread> sessions_;  // used by the acceptor until it has ended
  std::thread acceptor_;
};

}  // namespace fanline::redis
