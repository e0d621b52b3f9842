// Every change of an edge writes two messages: the message object is kept per thread, so that its
// parts are not allocated anew.
#include "fanline/wire/relation_log.h"

#include "schemas/proto/relation_log.pb.h"

namespace fanline {
namespace {

template <class Message>
void WriteKey(const EdgeKey& edge, uint64_t version, Message* message) {
  message->set_src(Raw(edge.src));
  message->set_dst(Raw(edge.dst));
  message->set_version(version);
}

void Write(const EdgeWritten& written, v1::RelationLog* message) {
  auto* out = message->mutable_written();
  WriteKey(written.edge.key(), written.edge.ver, out);
  out->set_live(written.edge.live);
  out->set_pos_ms(written.edge.pos);
  out->set_log_id(written.log_id);
  out->set_delivery(static_cast<uint32_t>(written.edge.delivery));
}

void Write(const EdgeMirrored& mirrored, v1::RelationLog* message) {
  WriteKey(mirrored.edge, mirrored.ver, message->mutable_mirrored());
}

// Why these are no edge and version; none: they are.
std::optional<Rejection> NoEdge(const std::string& name, const EdgeKey& edge, uint64_t version) {
  if (!IsValidId(Raw(edge.src))) return RefuseId(name + ".src", Raw(edge.src));
  if (!IsValidId(Raw(edge.dst))) return RefuseId(name + ".dst", Raw(edge.dst));
  if (edge.src == edge.dst) {
    return Rejection{name + ".dst: found src itself, " + ToString(edge.dst)};
  }
  if (version == 0) return Rejection{name + ".version: found 0; versions begin at 1"};
  return std::nullopt;
}

std::optional<Rejection> NoDelivery(uint64_t number) {
  if (DeliveryOf(number)) return std::nullopt;
  return Rejection{"written.delivery: found " + std::to_string(number) +
                   "; there are 0 (all), 1 (no reposts) and 2 (nothing)"};
}

Decoded<RelationMessage> Read(const v1::EdgeWritten& written) {
  if (auto refused = NoDelivery(written.delivery())) return *refused;
  const EdgeWritten out{{.src = UserId{written.src()},
                         .dst = UserId{written.dst()},
                         .ver = written.version(),
                         .live = written.live(),
                         .pos = written.pos_ms(),
                         .delivery = static_cast<Delivery>(written.delivery())},
                        written.log_id()};
  if (auto refused = WhyRefused(out)) return *refused;
  return out;
}

Decoded<RelationMessage> Read(const v1::EdgeMirrored& mirrored) {
  const EdgeMirrored out{{UserId{mirrored.src()}, UserId{mirrored.dst()}}, mirrored.version()};
  if (auto refused = NoEdge("mirrored", out.edge, out.ver)) return *refused;
  return out;
}

}  // namespace

std::optional<Rejection> WhyRefused(const EdgeWritten& written) {
  const Edge& edge = written.edge;
  if (auto refused = NoEdge("written", edge.key(), edge.ver)) return refused;
  if (edge.pos < 0) {
    return Rejection{"written.pos_ms: found " + std::to_string(edge.pos) +
                     "; it is milliseconds since 1970"};
  }
  return NoDelivery(static_cast<uint64_t>(edge.delivery));
}

std::string RelationLogKey(const EdgeKey& edge) {
  return ToString(edge.src) + ':' + ToString(edge.dst);
}

EdgeClaim ClaimOf(const RelationMessage& message) {
  if (const auto* written = std::get_if<EdgeWritten>(&message)) {
    return {written->edge.state(), true, written->log_id};
  }
  return {{std::get<EdgeMirrored>(message).ver}, false};
}

EdgeKey KeyOf(const RelationMessage& message) {
  if (const auto* written = std::get_if<EdgeWritten>(&message)) return written->edge.key();
  return std::get<EdgeMirrored>(message).edge;
}

std::string EncodeRelationMessage(const RelationMessage& message) {
  thread_local v1::RelationLog out;
  out.set_schema_version(kRelationLogSchemaVersion);
  std::visit([&](const auto& what) { Write(what, &out); }, message);
  return out.SerializeAsString();
}

Decoded<RelationMessage> DecodeRelationMessage(std::string_view bytes) {
  thread_local v1::RelationLog message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Rejection{"no fanline.v1.RelationLog, or not a whole one"};
  }
  if (message.schema_version() != kRelationLogSchemaVersion) {
    return RefuseVersion(message.schema_version(), kRelationLogSchemaVersion);
  }
  switch (message.what_case()) {
    case v1::RelationLog::kWritten:
      return Read(message.written());
    case v1::RelationLog::kMirrored:
      return Read(message.mirrored());
    case v1::RelationLog::WHAT_NOT_SET:
      break;
  }
  return Rejection{"neither written nor mirrored"};
}

}  // namespace fanline
