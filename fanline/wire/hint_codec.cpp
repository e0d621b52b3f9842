// Hints are our own and small, yet every publish writes one per range: the message object is
// kept per thread, so that its parts are not allocated anew.
#include <algorithm>

#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "schemas/proto/hint.pb.h"

namespace fanline {
namespace {

void Write(const DeliverySample& sample, v1::DeliverySample* message) {
  message->set_part(sample.part);
  message->set_parts(sample.parts);
  message->set_published_at_ms(sample.published_at);
  message->set_followers(sample.followers);
}

void Write(UserId author, const Hint::Post& post, v1::Hint* message) {
  auto* out = message->mutable_post();
  out->set_author_id(Raw(author));
  out->set_post_id(Raw(post.post));
  if (post.sample) {
    Write(*post.sample, out->mutable_sample());
  } else {
    out->clear_sample();
  }
  out->set_weighed_since_ms(post.weighed_since);
}

void Write(UserId author, const Hint::Sync& sync, v1::Hint* message) {
  auto* out = message->mutable_sync();
  out->set_author_id(Raw(author));
  out->set_reader_id(Raw(sync.reader));
}

// False for a part that no range can have, for no parts at all, and for a publish before 1970.
bool IsSound(const v1::DeliverySample& sample) {
  return sample.parts() >= 1 && sample.parts() <= kBuckets && sample.part() < kBuckets &&
         sample.published_at_ms() >= 0;
}

Decoded<Hint> Read(const v1::PostHint& post) {
  if (!IsValidId(post.author_id())) return RefuseId("post.author_id", post.author_id());
  if (!IsValidId(post.post_id())) return RefuseId("post.post_id", post.post_id());
  Hint hint = Hint::OfPost(UserId{post.author_id()}, PostId{post.post_id()});
  auto& read = std::get<Hint::Post>(hint.what);
  read.weighed_since = std::max<UnixMs>(0, post.weighed_since_ms());
  if (!post.has_sample()) return hint;
  const auto& sample = post.sample();
  if (!IsSound(sample)) {
    return Rejection{"post.sample: found part " + std::to_string(sample.part()) + " of " +
                     std::to_string(sample.parts()) + ", published at " +
                     std::to_string(sample.published_at_ms())};
  }
  read.sample =
      DeliverySample{sample.part(), sample.parts(), sample.published_at_ms(), sample.followers()};
  return hint;
}

Decoded<Hint> Read(const v1::SyncHint& sync) {
  if (!IsValidId(sync.author_id())) return RefuseId("sync.author_id", sync.author_id());
  if (!IsValidId(sync.reader_id())) return RefuseId("sync.reader_id", sync.reader_id());
  return Hint::OfSync(UserId{sync.reader_id()}, UserId{sync.author_id()});
}

}  // namespace

std::string EncodeHint(const Hint& hint) {
  thread_local v1::Hint message;
  message.set_schema_version(kHintSchemaVersion);
  std::visit([&](const auto& what) { Write(hint.author, what, &message); }, hint.what);
  return message.SerializeAsString();
}

Decoded<Hint> DecodeHint(std::string_view bytes) {
  v1::Hint message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Rejection{"no fanline.v1.Hint, or not a whole one"};
  }
  if (message.schema_version() != kHintSchemaVersion) {
    return RefuseVersion(message.schema_version(), kHintSchemaVersion);
  }
  switch (message.what_case()) {
    case v1::Hint::kPost:
      return Read(message.post());
    case v1::Hint::kSync:
      return Read(message.sync());
    case v1::Hint::WHAT_NOT_SET:
      break;
  }
  return Rejection{"neither post nor sync"};
}

}  // namespace fanline
