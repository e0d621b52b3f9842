// Encodes commands in the Redis protocol (RESP) into one growing buffer. It allocates nothing per
// argument and takes half the time of the client library's formatter. Exactly as many arguments as
// Begin was given must follow. Not thread-safe.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace fanline::redis {

// The most words of a command: managed services take no more (ElastiCache Serverless). Calls of
// apply.lua and reset_page.lua are cut; the others have fewer while timelines have at most 1,300
// members (WindowLimits).
inline constexpr size_t kMostArguments = 3'999;

class CommandBuffer {
 public:
  void Begin(size_t arguments) { Header('*', arguments); }

  void Arg(std::string_view text) {
    Header('$', text.size());
    bytes_.append(text);
    bytes_.append("\r\n", 2);
  }
  template <std::integral Number>
  void Arg(Number number) {
    char digits[24];
    Arg(std::string_view(digits,
                         std::to_chars(digits, digits + sizeof digits, number).ptr - digits));
  }

  template <class... Words>
  void Args(const Words&... words) {
    (Arg(words), ...);
  }

  // A whole command.
  template <class... Words>
  void Command(const Words&... words) {
    Begin(sizeof...(words));
    Args(words...);
  }

  void Append(const CommandBuffer& commands) { bytes_.append(commands.bytes_); }

  std::string_view bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  void DropFront(size_t bytes) { bytes_.erase(0, bytes); }

 private:
  void Header(char type, size_t count) {
    char line[24];
    line[0] = type;
    char* end = std::to_chars(line + 1, line + 22, count).ptr;
    *end++ = '\r';
    *end++ = '\n';
    bytes_.append(line, end - line);
  }

  std::string bytes_;
};

// One command.
template <class... Words>
CommandBuffer CommandOf(const Words&... words) {
  CommandBuffer command;
  command.Command(words...);
  return command;
}

}  // namespace fanline::redis
