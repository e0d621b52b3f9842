#include "backends/redis/client/sign_in.h"

namespace fanline::redis {

std::string EncodeSignIn(const Options& options, CommandBuffer& out) {
  std::string password;
  if (std::string wrong = options.password.Read(&password); !wrong.empty()) {
    return "the password's file " + wrong;
  }
  if (password.empty()) return {};
  if (options.username.empty()) {
    out.Command("AUTH", password);
  } else {
    out.Command("AUTH", options.username, password);
  }
  return {};
}

}  // namespace fanline::redis
