// What a Redis server says in texts: INFO, errors, scores, positions.
#include "backends/redis/client/errors.h"
#include "backends/redis/client/identity.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/server_check.h"
#include "backends/redis/requests.h"
#include "fanline/base/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

using namespace fanline;
using namespace fanline::redis;

namespace {

void CheckInfo(std::string_view info) {
  const Identity identity = IdentityOf(info);
  FANLINE_CHECK(InfoField(info, "run_id") == identity.run_id, "a field of the text");
  FANLINE_CHECK(identity.run_id.find('\n') == std::string::npos, "a field ends with its line");
  const ServerCheck check = Judge(info, InfoField(info, "entries"), {});
  for (const auto& said : {check.refusals, check.warnings}) {
    for (const std::string& line : said) FANLINE_CHECK(!line.empty(), "a refusal has a reason");
  }
}

}  // namespace

FUZZ_TARGET(redis_texts) {
  CheckInfo(bytes);
  const ErrorMeaning meaning = MeaningOf(bytes);
  const Status status = StatusOf(meaning, bytes);
  FANLINE_CHECK(!status.done() && status.message == bytes, "an error is no answer");
  FANLINE_CHECK(status.later() == !status.resource.empty(), "later names what is waited for");
  if (const auto time = TimeOfScore(bytes)) {
    FANLINE_CHECK(*time >= -kMaxCreatedAt && *time <= kMaxCreatedAt, "a time that is exact");
  }
  if (const auto position = ParsePosition(bytes)) {
    FANLINE_CHECK(TextOf(*position) == bytes,
                  "a position has one spelling: pos: is compared as text");
  }
}
