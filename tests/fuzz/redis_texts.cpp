// What a Redis server says in texts: INFO, errors, scores, positions.
#include "backends/redis/client/errors.h"
#include "backends/redis/client/identity.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/cluster/server_check.h"
#include "backends/redis/cluster/slot_map.h"
#include "backends/redis/requests.h"
#include "fanline/base/check.h"
#include "fanline/model/member.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

using namespace fanline;
using namespace fanline::redis;

namespace {

void CheckInfo(std::string_view info) {
  const Identity identity = IdentityOf(info);
  FANLINE_CHECK(InfoField(info, "run_id") == identity.run_id, "a field of the text");
  FANLINE_CHECK(identity.run_id.find('\n') == std::string::npos, "a field ends with its line");
  const ServerCheck check =
      Judge({std::string(info), std::string(InfoField(info, "entries")), "no"}, {});
  for (const auto& said : {check.refusals, check.warnings}) {
    for (const std::string& line : said) FANLINE_CHECK(!line.empty(), "a refusal has a reason");
  }
}

void CheckCluster(std::string_view text) {
  const Endpoint asked{"10.0.0.1", 7000};
  const ClusterView view = ParseNodes(text, asked);
  for (const auto& master : view.masters) {
    FANLINE_CHECK(master.address.port != 0, "a node has a port");
    for (const auto& [first, last] : master.slots) {
      FANLINE_CHECK(first <= last && last < kSlots, "slots that there are");
    }
  }
  for (const auto& [node, name] : view.names) {
    FANLINE_CHECK(node.port != 0 && !name.empty() && name != "?", "a name is one");
  }
  for (const OpenSlot& open : view.open) FANLINE_CHECK(open.slot < kSlots, "a slot that there is");
  SlotMap map;
  map.Add(view);
  if (const auto redirect = ParseRedirect(text, asked)) {
    FANLINE_CHECK(redirect->slot < kSlots && redirect->to.port != 0, "a slot, and a place for it");
    map.Move(*redirect);
  }
  const std::vector<Endpoint> masters = map.masters();
  for (Bucket bucket = 0; bucket < kBuckets; ++bucket) {
    const Endpoint* master = map.MasterOf(bucket);
    FANLINE_CHECK(master == nullptr || std::count(masters.begin(), masters.end(), *master) == 1,
                  "who serves a bucket is among the masters, once");
  }
}

}  // namespace

FUZZ_TARGET(redis_texts) {
  CheckInfo(bytes);
  CheckCluster(bytes);
  const ErrorMeaning meaning = MeaningOf(bytes);
  const Status status = StatusOf(meaning, bytes);
  FANLINE_CHECK(!status.done() && !status.message.empty(), "an error is no answer, and has words");
  FANLINE_CHECK(bytes.empty() || status.message == bytes, "the words are Redis'");
  FANLINE_CHECK(status.later() == !status.resource.empty(), "later names what is waited for");
  if (const auto time = TimeOfScore(bytes)) {
    FANLINE_CHECK(*time >= -kMaxCreatedAt && *time <= kMaxCreatedAt, "a time that is exact");
  }
  if (const auto item = ParseItem(bytes)) {
    FANLINE_CHECK(MemberText(*item) == bytes, "an item has one spelling");
  }
  const RangeLayout layout(16);
  if (const auto position = ParsePosition(bytes, layout)) {
    FANLINE_CHECK(TextOf(*position, layout) == bytes,
                  "a position has one spelling: pos: is compared as text");
  }
}
