#include "daemon/run/notify_socket.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// The other end, where systemd would be.
class Listener {
 public:
  explicit Listener(const std::string& address) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, address.data(), address.size());
    if (address[0] == '@') at.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&at), length), 0) << std::strerror(errno);
  }
  ~Listener() { close(fd_); }

  // The next message that has arrived; empty: none.
  std::string Next() const {
    char text[4096];
    const ssize_t bytes = recv(fd_, text, sizeof text, MSG_DONTWAIT);
    return bytes < 0 ? "" : std::string(text, static_cast<size_t>(bytes));
  }

 private:
  const int fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

std::string OwnName() { return "@fanline-notify-" + std::to_string(getpid()); }

TEST(NotifySettings, AreThoseOfTheEnvironment) {
  EXPECT_EQ(ReadNotifySettings({}, 7).socket, "");
  EXPECT_EQ(ReadNotifySettings({}, 7).watchdog, std::nullopt);
  const auto settings = ReadNotifySettings({{"NOTIFY_SOCKET", "/run/systemd/notify"},
                                            {"WATCHDOG_USEC", "60000000"},
                                            {"WATCHDOG_PID", "7"}},
                                           7);
  EXPECT_EQ(settings.socket, "/run/systemd/notify");
  EXPECT_EQ(settings.watchdog, Duration(1min));
  EXPECT_EQ(ReadNotifySettings({{"WATCHDOG_USEC", "1000"}}, 7).watchdog, Duration(1ms));
}

TEST(NotifySettings, HaveNoWatchdogThatIsAnothersOrNoTime) {
  EXPECT_EQ(ReadNotifySettings({{"WATCHDOG_USEC", "1000"}, {"WATCHDOG_PID", "8"}}, 7).watchdog,
            std::nullopt);
  for (const char* text : {"", "0", "-1", "1s", "x"}) {
    EXPECT_EQ(ReadNotifySettings({{"WATCHDOG_USEC", text}}, 7).watchdog, std::nullopt) << text;
  }
}

TEST(NotifySocket, SendsToAnAbstractNameAndToAPath) {
  const std::string path = testing::TempDir() + "notify-" + std::to_string(getpid());
  for (const std::string& address : {OwnName(), path}) {
    const Listener listener(address);
    EXPECT_EQ(SendTo(address, "READY=1\n"), 0);
    EXPECT_EQ(listener.Next(), "READY=1\n");
    EXPECT_EQ(listener.Next(), "");
  }
  unlink(path.c_str());
}

TEST(NotifySocket, NeverBlocksOnASupervisorThatDoesNotRead) {
  const Listener listener(OwnName());
  int error = 0;
  for (int sent = 0; sent < 100'000 && error == 0; ++sent) {
    error = SendTo(OwnName(), "WATCHDOG=1\n");
  }
  EXPECT_EQ(error, EAGAIN);
}

TEST(NotifySocket, SaysWhyNothingWasTaken) {
  EXPECT_EQ(SendTo("/nowhere/notify", "READY=1\n"), ENOENT);
  EXPECT_EQ(SendTo(OwnName(), "READY=1\n"), ECONNREFUSED);
  EXPECT_EQ(SendTo("/" + std::string(200, 'x'), "READY=1\n"), ENAMETOOLONG);
}

// The log of a loop that has turned once and is ready.
std::string LogOfATurn(const Environment& environment) {
  std::ostringstream out;
  const Log log("test", {}, out, [] { return UnixMs{0}; });
  Health health;
  health.SetReady("loop", true);
  SupervisorOf(environment, getpid(), health, log).Turned(Time{1h});
  return out.str();
}

TEST(SupervisorOf, TellsTheOneThatTheEnvironmentNames) {
  const Listener listener(OwnName());
  EXPECT_EQ(LogOfATurn({{"NOTIFY_SOCKET", OwnName()}, {"WATCHDOG_USEC", "2000000"}}), "");
  EXPECT_EQ(listener.Next(), "READY=1\nSTATUS=ready\nWATCHDOG=1\n");
}

TEST(SupervisorOf, SaysInTheLogThatTheSupervisorTakesNothing) {
  EXPECT_THAT(LogOfATurn({{"NOTIFY_SOCKET", "/nowhere/notify"}}),
              HasSubstr(R"("socket":"/nowhere/notify")"));
}

TEST(SupervisorOf, SaysNothingWhereThereIsNone) { EXPECT_EQ(LogOfATurn({}), ""); }

}  // namespace
}  // namespace fanline::daemon
