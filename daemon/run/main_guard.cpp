#include "daemon/run/main_guard.h"

#include <unistd.h>

#include <csignal>
#include <exception>

#include "daemon/observe/log.h"
#include "daemon/options/options.h"
#include "fanline/base/misconfigured.h"

namespace fanline::daemon {
namespace {

// For the terminate handler, which takes no argument. Never freed: threads may outlive main.
const Log* g_log = nullptr;

// The text of the current exception; for a catch block or a terminate handler.
std::string CurrentException() {
  const std::exception_ptr current = std::current_exception();
  if (!current) return "none";
  try {
    std::rethrow_exception(current);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "not a std::exception";
  }
}

[[noreturn]] void OnTerminate() {
  g_log->Error("terminated", {{"exception", CurrentException()}});
  _exit(kExitSoftware);
}

}  // namespace

int GuardedMain(const std::string& program, const std::function<int()>& body) {
  g_log = new Log(program);
  std::set_terminate(OnTerminate);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return body();
  } catch (const Misconfigured& error) {
    g_log->Error("refusing to go on", {{"reason", error.what()}});
    return kExitConfig;
  } catch (...) {
    g_log->Error("ended by an exception", {{"exception", CurrentException()}});
    return kExitSoftware;
  }
}

}  // namespace fanline::daemon
