// A wrapper for main(), so that no program of ours ends without saying why.
#pragma once

#include <functional>
#include <string>

namespace fanline::daemon {

// Runs the body and returns its exit code. An exception that escapes becomes one error line of the
// log and exit code 70 (78 when it is Misconfigured); so does std::terminate (an exception on
// another thread), which then leaves at once without destructors. SIGPIPE is ignored: a peer that
// hangs up is an error of that call, not the end of the process.
//
//   int main(int argc, char** argv) {
//     return daemon::GuardedMain("fanline-pusher", [&] { ... return daemon::Run(...); });
//   }
[[nodiscard]] int GuardedMain(const std::string& program, const std::function<int()>& body);

}  // namespace fanline::daemon
