// The command line ("$ argument"), the environment ("! NAME=value") and the configuration file (all
// other lines) of a program with an option of every type.
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/options/options.h"
#include "fanline/base/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

using namespace fanline;
using namespace fanline::daemon;

namespace {

using namespace std::chrono_literals;

// A text that stands only where the input has it.
constexpr std::string_view kMark = "s3cret";

size_t CountOf(std::string_view what, std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++count;
  return count;
}

// The configuration file of the input at hand.
class File {
 public:
  File() : fd_(memfd_create("config", 0)), path_("/proc/self/fd/" + std::to_string(fd_)) {}
  ~File() { close(fd_); }
  const std::string& Holding(std::string_view text) {
    FANLINE_CHECK(ftruncate(fd_, 0) == 0, "an empty file");
    FANLINE_CHECK(pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()),
                  "a file of the text");
    return path_;
  }

 private:
  const int fd_;
  const std::string path_;
};

struct Program {
  std::string name = "x";
  std::string password;
  bool verify = true;
  int32_t small = 1;
  int64_t window = 450;
  uint16_t port = 1;
  uint32_t count = 2;
  uint64_t author = 0;
  double sample = 0.01;
  std::chrono::milliseconds linger = 5ms;
  std::chrono::microseconds pause = 5us;
  Endpoint listen{"127.0.0.1", 9100};
  std::vector<std::string> brokers{"localhost:9092"};
  std::string mode = "safe";
  std::string post;
  std::vector<std::string> posts;
  OptionTable table{"fanline-fuzz", "a program for fuzzing"};

  Program() {
    table.Add("name", &name, "a text").OneOf({"x", "y", "ü"});
    table.Add("redis-password", &password, "a secret").Secret();
    table.Add("verify", &verify, "a bool");
    table.Add("small", &small, "a number").Range(-5, 5);
    table.Add("window", &window, "a number").Range(1, 512).Unit("items");
    table.Add("port", &port, "a number").Range(1, 65535);
    table.Add("count", &count, "a number");
    table.Add("author", &author, "a number");
    table.Add("sample", &sample, "a share").Range(0, 1);
    table.Add("linger", &linger, "a time").Range(0ms, 1min);
    table.Add("pause", &pause, "a time");
    table.Add("listen", &listen, "a place");
    table.Add("kafka-brokers", &brokers, "a list");
    table.Add("mode", &mode, "one").OneOf({"fast", "safe"});
    OptionTable& edit = table.AddCommand("edit", "a command");
    edit.AddPositional("post", &post, "an argument");
    edit.AddPositional("posts", &posts, "more of them").Optional();
    table.Check([this] { return window == 7 && count == 7 ? "not both 7" : ""; });
  }
};

void CheckShownValues(const OptionTable& table) {
  for (const auto& option : table.options()) {
    if (option->secret() || option->positional()) continue;
    const std::string shown = ShowValue(option->target());
    FANLINE_CHECK(option->Store({shown}).empty(), "a value that is shown can be given");
    FANLINE_CHECK(ShowValue(option->target()) == shown, "and is the same then");
  }
}

}  // namespace

FUZZ_TARGET(options) {
  static File file;
  Program program;
  std::vector<std::string> arguments = {"fanline-fuzz"};
  Environment env;
  std::string config;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view line = fuzz::TakeLine(rest);
    if (line.starts_with("$ ")) {
      arguments.emplace_back(line.substr(2));
    } else if (line.starts_with("! ")) {
      const size_t equals = std::min(line.find('='), line.size() - 1);
      env[std::string(line.substr(2, equals - std::min<size_t>(equals, 2)))] =
          line.substr(equals + 1);
    } else {
      config += std::string(line) + "\n";
    }
  }
  arguments.insert(arguments.begin() + 1, {"--config", file.Holding(config)});
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const Parsed parsed = program.table.Parse(static_cast<int>(argv.size()), argv.data(), env);
  const int code = parsed.exit_code.value_or(0);
  FANLINE_CHECK(code == 0 || code == kExitUsage || code == kExitConfig, "an exit code of ours");
  FANLINE_CHECK((code != 0) == !parsed.err.empty(), "a refusal has a reason");
  // Wherever the secret's text stands is its value: then nothing that is printed has it.
  const bool only_there = CountOf(kMark, bytes) == CountOf(kMark, program.password);
  FANLINE_CHECK(!only_there || CountOf(kMark, parsed.out + parsed.err) == 0,
                "a secret is not shown");
  if (parsed.proceed()) CheckShownValues(program.table);
}
