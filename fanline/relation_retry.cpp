#include "fanline/relation_retry.h"

#include "schemas/proto/relation_retry.pb.h"

namespace fanline {
namespace {

// "" when these can be an entry's; else what is wrong.
std::string Problem(const v1::RelationRetry& message) {
  if (message.schema_version() != kRelationRetrySchemaVersion) {
    return "schema_version: found " + std::to_string(message.schema_version()) +
           "; this Fanline reads " + std::to_string(kRelationRetrySchemaVersion);
  }
  if (!IsValidId(message.src())) return "src: found " + std::to_string(message.src()) + ", no id";
  if (!IsValidId(message.dst())) return "dst: found " + std::to_string(message.dst()) + ", no id";
  if (message.src() == message.dst()) return "dst: found src itself";
  if (message.version() == 0) return "version: found 0; versions begin at 1";
  if (message.due_ms() < 0) return "due_ms: it is milliseconds since 1970";
  return {};
}

}  // namespace

std::string EncodeRelationRetry(const RelationRetry& retry) {
  v1::RelationRetry message;
  message.set_schema_version(kRelationRetrySchemaVersion);
  message.set_src(Raw(retry.edge.src));
  message.set_dst(Raw(retry.edge.dst));
  message.set_version(retry.ver);
  message.set_due_ms(retry.due);
  message.set_attempts(retry.attempts);
  return message.SerializeAsString();
}

std::optional<RelationRetry> DecodeRelationRetry(std::string_view bytes, std::string* why) {
  v1::RelationRetry message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    *why = "no fanline.v1.RelationRetry, or not a whole one";
    return std::nullopt;
  }
  *why = Problem(message);
  if (!why->empty()) return std::nullopt;
  return RelationRetry{{UserId{message.src()}, UserId{message.dst()}},
                       message.version(),
                       message.due_ms(),
                       message.attempts()};
}

}  // namespace fanline
