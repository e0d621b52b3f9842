#include "fanline/wire/event_codec.h"

#include <array>

#include "fanline/model/item.h"
#include "fanline/wire/event_form.h"
#include "fanline/wire/event_json.h"
#include "fanline/wire/event_proto.h"
#include "schemas/proto/feed_event.pb.h"

namespace fanline {
namespace {

constexpr std::array kNames = [] {
  std::array<const char*, kEventKinds> names{};
  for (size_t i = 0; i < names.size(); ++i) names[i] = TraitsOf(static_cast<EventKind>(i)).name;
  return names;
}();

constexpr NumberField kPostId = IdField("post_id");
constexpr NumberField kAuthorId = IdField("author_id");
constexpr NumberField kCreatedAt{"created_at_ms", 1, static_cast<uint64_t>(kMaxCreatedAt),
                                 "milliseconds since 1970, from 1 to 9007199254740991"};
constexpr NumberField kVersion{"version", 1, UINT64_MAX,
                               "the post's own version from 1 on, growing with each change"};

constexpr const char* kRepostOf = "repost_of";
constexpr std::string_view kSendOriginal = "an object with post_id and author_id";
constexpr NumberField kOriginalPost = IdField("repost_of.post_id");
constexpr NumberField kOriginalAuthor = IdField("repost_of.author_id");

// What a published post shows, if it is a repost.
std::optional<Rejection> ReadOriginal(const ReadNumber& read, FeedEvent* event) {
  uint64_t post = 0, author = 0;
  if (auto refused = read(kOriginalPost, &post)) return refused;
  if (auto refused = read(kOriginalAuthor, &author)) return refused;
  if (PostId{post} == event->post) {
    return Refuse(kOriginalPost.name, std::to_string(post) + ", the repost's own id",
                  "the id of the post that it shows");
  }
  event->repost_of = {PostId{post}, UserId{author}};
  return std::nullopt;
}

// The event of `kind`, from exactly the fields this kind needs.
Decoded<FeedEvent> ReadEvent(EventKind kind, const ReadNumber& read) {
  uint64_t post = 0, author = 0, last = 0;
  if (auto refused = read(kPostId, &post)) return *refused;
  if (auto refused = read(kAuthorId, &author)) return *refused;
  FeedEvent event{.kind = kind, .post = PostId{post}, .author = UserId{author}};
  switch (TraitsOf(kind).number) {
    case EventNumber::kNone:
      break;
    case EventNumber::kCreatedAt:
      if (auto refused = read(kCreatedAt, &last)) return *refused;
      event.created_at = static_cast<UnixMs>(last);
      break;
    case EventNumber::kVersion:
      if (auto refused = read(kVersion, &event.version)) return *refused;
      break;
  }
  return event;
}

// ---- JSON -----------------------------------------------------------------------------------

Decoded<FeedEvent> DecodeJson(std::string_view value) {
  JsonEvent json{kPostId.name, kAuthorId.name,     kCreatedAt.name,     kVersion.name,
                 kRepostOf,    kOriginalPost.name, kOriginalAuthor.name};
  size_t kind = 0;
  if (auto refused = json.Open(value, kNames, &kind)) return *refused;
  const ReadNumber read = [&](const NumberField& field, uint64_t* number) {
    return json.Read(field, number);
  };
  auto decoded = ReadEvent(static_cast<EventKind>(kind), read);
  auto* event = std::get_if<FeedEvent>(&decoded);
  if (event == nullptr || event->kind != EventKind::kPublished) return decoded;
  bool repost = false;
  if (auto refused = json.ReadObject(kRepostOf, kSendOriginal, &repost)) return *refused;
  if (!repost) return decoded;
  if (auto refused = ReadOriginal(read, event)) return *refused;
  return decoded;
}

// ---- Protobuf -------------------------------------------------------------------------------

// The event of `kind`, from the numbers of its message; `last` is the third one.
Decoded<FeedEvent> ReadMessage(EventKind kind, uint64_t post, uint64_t author, uint64_t last) {
  return ReadEvent(kind, [&](const NumberField& field, uint64_t* number) {
    const std::string_view name = field.name;
    return ReadProtoNumber(name == kPostId.name     ? post
                           : name == kAuthorId.name ? author
                                                    : last,
                           field, number);
  });
}

template <class Message>
Decoded<FeedEvent> ReadVersioned(EventKind kind, const Message& message) {
  return ReadMessage(kind, message.post_id(), message.author_id(), message.version());
}

Decoded<FeedEvent> DecodeProto(std::string_view value) {
  v1::FeedEvent message;
  if (auto refused = OpenProto(value, &message)) return *refused;
  switch (message.event_case()) {
    case v1::FeedEvent::kPublished: {
      const auto& published = message.published();
      if (published.created_at_ms() < 0) {
        return Refuse("created_at_ms", std::to_string(published.created_at_ms()),
                      "milliseconds since 1970");
      }
      auto decoded = ReadMessage(EventKind::kPublished, published.post_id(), published.author_id(),
                                 static_cast<uint64_t>(published.created_at_ms()));
      auto* event = std::get_if<FeedEvent>(&decoded);
      if (event == nullptr || !published.has_repost_of()) return decoded;
      const auto& original = published.repost_of();
      const ReadNumber read = [&](const NumberField& field, uint64_t* number) {
        const bool post = std::string_view(field.name) == kOriginalPost.name;
        return ReadProtoNumber(post ? original.post_id() : original.author_id(), field, number);
      };
      if (auto refused = ReadOriginal(read, event)) return *refused;
      return decoded;
    }
    case v1::FeedEvent::kDeleted:
      return ReadMessage(EventKind::kDeleted, message.deleted().post_id(),
                         message.deleted().author_id(), 0);
    case v1::FeedEvent::kHidden:
      return ReadVersioned(EventKind::kHidden, message.hidden());
    case v1::FeedEvent::kUnhidden:
      return ReadVersioned(EventKind::kUnhidden, message.unhidden());
    case v1::FeedEvent::kEdited:
      return ReadVersioned(EventKind::kEdited, message.edited());
    case v1::FeedEvent::EVENT_NOT_SET:
      break;
  }
  return RefuseNoEvent(message, kNames);
}

}  // namespace

const char* NameOf(EventKind kind) { return kNames[static_cast<size_t>(kind)]; }

Decoded<FeedEvent> DecodeEvent(std::string_view value, std::string_view content_type) {
  const auto form = FormOf(value, content_type);
  if (const auto* refused = std::get_if<Rejection>(&form)) return *refused;
  return std::get<EventForm>(form) == EventForm::kJson ? DecodeJson(value) : DecodeProto(value);
}

std::string EncodeEventJson(const FeedEvent& event) {
  JsonText json(NameOf(event.kind));
  json.Id(kPostId.name, Raw(event.post)).Id(kAuthorId.name, Raw(event.author));
  switch (TraitsOf(event.kind).number) {
    case EventNumber::kNone:
      break;
    case EventNumber::kCreatedAt:
      json.Number(kCreatedAt.name, static_cast<uint64_t>(event.created_at));
      if (const Original& original = event.repost_of) {
        json.Object(
            kRepostOf,
            JsonText().Id("post_id", Raw(original.post)).Id("author_id", Raw(original.author)));
      }
      break;
    case EventNumber::kVersion:
      json.Number(kVersion.name, event.version);
      break;
  }
  return json.Take();
}

}  // namespace fanline
