// Every change of an edge writes two of these: the message object is kept per thread, so that its
// parts are not allocated anew.
#include "fanline/relation_log.h"

#include "schemas/proto/relation_log.pb.h"

namespace fanline {
namespace {

using Decoded = std::optional<RelationMessage>;

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
}

void Write(const EdgeMirrored& mirrored, v1::RelationLog* message) {
  WriteKey(mirrored.edge, mirrored.ver, message->mutable_mirrored());
}

Decoded Refuse(std::string reason, std::string* why) {
  *why = std::move(reason);
  return std::nullopt;
}

Decoded RefuseId(const std::string& field, uint64_t found, std::string* why) {
  return Refuse(field + ": found " + std::to_string(found) + "; an id is 1 to 18446744073709551614",
                why);
}

// Whether src, dst and version can be those of an edge; else *why.
template <class Message>
bool IsSound(const std::string& name, const Message& message, std::string* why) {
  if (!IsValidId(message.src())) {
    RefuseId(name + ".src", message.src(), why);
  } else if (!IsValidId(message.dst())) {
    RefuseId(name + ".dst", message.dst(), why);
  } else if (message.src() == message.dst()) {
    Refuse(name + ".dst: found src itself, " + std::to_string(message.dst()), why);
  } else if (message.version() == 0) {
    Refuse(name + ".version: found 0; versions begin at 1", why);
  } else {
    return true;
  }
  return false;
}

Decoded Read(const v1::EdgeWritten& written, std::string* why) {
  if (!IsSound("written", written, why)) return std::nullopt;
  if (written.pos_ms() < 0) {
    return Refuse("written.pos_ms: found " + std::to_string(written.pos_ms()) +
                      "; it is milliseconds since 1970",
                  why);
  }
  return EdgeWritten{{.src = UserId{written.src()},
                      .dst = UserId{written.dst()},
                      .ver = written.version(),
                      .live = written.live(),
                      .pos = written.pos_ms()},
                     written.log_id()};
}

Decoded Read(const v1::EdgeMirrored& mirrored, std::string* why) {
  if (!IsSound("mirrored", mirrored, why)) return std::nullopt;
  return EdgeMirrored{{UserId{mirrored.src()}, UserId{mirrored.dst()}}, mirrored.version()};
}

}  // namespace

std::string RelationLogKey(const EdgeKey& edge) {
  return ToString(edge.src) + ':' + ToString(edge.dst);
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

std::optional<RelationMessage> DecodeRelationMessage(std::string_view bytes, std::string* why) {
  thread_local v1::RelationLog message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Refuse("no fanline.v1.RelationLog, or not a whole one", why);
  }
  if (message.schema_version() != kRelationLogSchemaVersion) {
    return Refuse("schema_version: found " + std::to_string(message.schema_version()) +
                      "; this Fanline reads " + std::to_string(kRelationLogSchemaVersion),
                  why);
  }
  switch (message.what_case()) {
    case v1::RelationLog::kWritten:
      return Read(message.written(), why);
    case v1::RelationLog::kMirrored:
      return Read(message.mirrored(), why);
    case v1::RelationLog::WHAT_NOT_SET:
      break;
  }
  return Refuse("neither written nor mirrored", why);
}

}  // namespace fanline
