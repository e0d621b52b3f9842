#include "fanline/wire/relation_retry.h"

#include <iterator>
#include <optional>
#include <string>

#include "schemas/proto/relation_retry.pb.h"

namespace fanline {
namespace {

// Why the message is refused; none: it is an entry.
std::optional<Rejection> NoEntry(const v1::RelationRetry& message) {
  if (message.schema_version() != kRelationRetrySchemaVersion) {
    return RefuseVersion(message.schema_version(), kRelationRetrySchemaVersion);
  }
  if (!IsValidId(message.src())) return RefuseId("src", message.src());
  if (!IsValidId(message.dst())) return RefuseId("dst", message.dst());
  if (message.src() == message.dst()) return Rejection{"dst: found src itself"};
  if (message.version() == 0 && message.net() != static_cast<uint32_t>(Net::kScan)) {
    return Rejection{"version: found 0; versions begin at 1"};
  }
  if (message.pos_ms() < 0) return Rejection{"pos_ms: it is milliseconds since 1970"};
  if (!DeliveryOf(message.delivery())) return Rejection{"delivery: there are 0, 1 and 2"};
  if (message.due_ms() < 0) return Rejection{"due_ms: it is milliseconds since 1970"};
  if (message.net() >= std::size(kNets)) {
    return Rejection{"net: found " + std::to_string(message.net()) + ", there is none"};
  }
  return std::nullopt;
}

}  // namespace

std::string EncodeRelationRetry(const RelationRetry& retry) {
  v1::RelationRetry message;
  message.set_schema_version(kRelationRetrySchemaVersion);
  message.set_src(Raw(retry.edge.src));
  message.set_dst(Raw(retry.edge.dst));
  message.set_version(retry.claim.state.ver);
  if (retry.claim.whole) {
    message.set_live(retry.claim.state.live);
    message.set_pos_ms(retry.claim.state.pos);
    message.set_delivery(static_cast<uint32_t>(retry.claim.state.delivery));
  }
  message.set_log_id(retry.claim.log_id);
  message.set_due_ms(retry.due);
  message.set_attempts(retry.attempts);
  message.set_hopeless(retry.hopeless);
  message.set_net(static_cast<uint32_t>(retry.net));
  return message.SerializeAsString();
}

Decoded<RelationRetry> DecodeRelationRetry(std::string_view bytes) {
  v1::RelationRetry message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Rejection{"no fanline.v1.RelationRetry, or not a whole one"};
  }
  if (auto refused = NoEntry(message)) return *refused;
  EdgeClaim claim{{message.version()}, message.has_live(), message.log_id()};
  if (claim.whole) {
    claim.state = {message.version(), message.live(), message.pos_ms(),
                   static_cast<Delivery>(message.delivery())};
  }
  return RelationRetry{{UserId{message.src()}, UserId{message.dst()}},
                       claim,
                       message.due_ms(),
                       message.attempts(),
                       message.hopeless(),
                       static_cast<Net>(message.net())};
}

}  // namespace fanline
