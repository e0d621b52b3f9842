// A client that sends any bytes, so that it can misbehave as tests need.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace fanline::http {

inline size_t CountOf(const std::string& what, const std::string& text) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
  return count;
}

class Client {
 public:
  // `receive_buffer`: bytes that the kernel keeps for a client that does not read; 0: the kernel's
  // default.
  explicit Client(uint16_t port, int receive_buffer = 0)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer > 0) {
      setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ||
                 (errno == EINTR && Completed());
  }
  Client(const Client&) = delete;
  ~Client() { close(fd_); }

  bool connected() const { return connected_; }

  // Returns false if the server accepts no more.
  bool Send(const std::string& text) const {
    for (size_t at = 0; at < text.size();) {
      const ssize_t size =
          Again([&] { return send(fd_, text.data() + at, text.size() - at, MSG_NOSIGNAL); });
      if (size <= 0) return false;
      at += static_cast<size_t>(size);
    }
    return true;
  }
  void SendNoMore() const { shutdown(fd_, SHUT_WR); }

  // Returns everything until the server closes the connection.
  std::string ReceiveAll() const {
    std::string text;
    char buffer[4096];
    for (ssize_t size = 0;
         (size = Again([&] { return recv(fd_, buffer, sizeof buffer, 0); })) > 0;) {
      text.append(buffer, static_cast<size_t>(size));
    }
    return text;
  }
  // Reads until a text has arrived. Bytes after it are kept for the next call.
  std::string ReceiveUntil(const std::string& end) const {
    std::string text;
    char byte = 0;
    const auto one = [&] { return recv(fd_, &byte, 1, 0); };
    while (text.find(end) == std::string::npos && Again(one) == 1) text += byte;
    return text;
  }

 private:
  // Repeats a call that a signal interrupts, such as libFuzzer's alarm.
  template <class Call>
  static ssize_t Again(Call call) {
    ssize_t size = 0;
    do {
      size = call();
    } while (size < 0 && errno == EINTR);
    return size;
  }

  // A connect that was interrupted continues by itself.
  bool Completed() const {
    pollfd waiting{fd_, POLLOUT, 0};
    Again([&] { return poll(&waiting, 1, -1); });
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  }

  int fd_;
  bool connected_ = false;
};

}  // namespace fanline::http
