// Events about posts, as requests: what an application's producer would append to feed-events.
#include <algorithm>

#include "api/operations/call.h"
#include "api/operations/json_body.h"
#include "fanline/model/item.h"

namespace fanline::api {
namespace {

using nlohmann::json;

constexpr const char* kId =
    "; ids are decimal strings from \"1\" to \"18446744073709551614\", or integers up to 2^53-1";

// Reads the members of a body, and collects what is wrong with them.
class Members {
 public:
  // `names`: all known members.
  Members(const std::string& body, std::vector<std::string_view> names)
      : body_(ParseObject(body, "; send an object with " + AllOf(names))) {
    for (const auto& member : body_.items()) {
      if (std::find(names.begin(), names.end(), member.key()) != names.end()) continue;
      Wrong(member.key().substr(0, 40), "is not expected; there are " + AllOf(names));
    }
  }

  uint64_t Number(const char* name, uint64_t most, const char* advice) {
    return Number(body_, "", name, most, advice);
  }
  // What a repost shows; `post`: the repost.
  Original RepostOf(const char* name, PostId post) {
    const auto found = body_.find(name);
    if (found == body_.end()) return {};
    const std::string within = std::string(name) + ".";
    if (!found->is_object()) {
      Wrong(name, Shown(*found) + " cannot be; send an object with post_id, author_id");
      return {};
    }
    for (const auto& member : found->items()) {
      if (member.key() == "post_id" || member.key() == "author_id") continue;
      Wrong(within + member.key().substr(0, 40), "is not expected; there are post_id, author_id");
    }
    const Original original{PostId{Number(*found, within, "post_id", UINT64_MAX - 1, kId)},
                            UserId{Number(*found, within, "author_id", UINT64_MAX - 1, kId)}};
    if (original && original.post == post) {
      Wrong(within + "post_id", "is the repost's own id; send the id of the post that it shows");
    }
    return original;
  }
  UserId Author() { return UserId{Number("author_id", UINT64_MAX - 1, kId)}; }
  bool has(const char* name) const { return body_.contains(name); }

  // Refuses the body when something was wrong.
  void Finish() {
    if (wrong_.empty()) return;
    std::string all;
    for (const FieldProblem& each : wrong_) {
      all += (all.empty() ? "" : ". ") + each.field + ": " + each.detail;
    }
    throw Refused{{Code::kBadBody, all, "", std::move(wrong_)}};
  }

 private:
  static std::string AllOf(const std::vector<std::string_view>& names) {
    std::string all;
    for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    return all;
  }
  uint64_t Number(const json& object, const std::string& within, const char* name, uint64_t most,
                  const char* advice) {
    const auto found = object.find(name);
    if (found == object.end()) {
      Wrong(within + name, std::string("is missing") + advice);
      return 0;
    }
    const auto number = NumberOf(*found);
    if (!number || *number > most) Wrong(within + name, Shown(*found) + " cannot be" + advice);
    return number.value_or(0);
  }
  void Wrong(std::string field, std::string detail) {
    if (wrong_.size() < kMostWrong) wrong_.push_back({std::move(field), std::move(detail)});
  }

  static constexpr size_t kMostWrong = 4;

  const json body_;
  std::vector<FieldProblem> wrong_;
};

}  // namespace

Call PublishPost(const Asked& asked) {
  asked.Takes({});
  Members body(asked.body(), {"post_id", "author_id", "created_at_ms", "repost_of"});
  FeedEvent event{.post = PostId{body.Number("post_id", UINT64_MAX - 1, kId)},
                  .author = body.Author()};
  if (body.has("created_at_ms")) {
    event.created_at = static_cast<UnixMs>(body.Number(
        "created_at_ms", kMaxCreatedAt, "; send milliseconds since 1970, or leave it out for now"));
  }
  event.repost_of = body.RepostOf("repost_of", event.post);
  body.Finish();
  return {.event = event};
}

Call DeletePost(const Asked& asked) {
  asked.Takes({"author_id"});
  const std::string* author = asked.Find("author_id");
  if (author == nullptr) {
    throw Refused{{Code::kBadParameter, "author_id is missing; name the post's author"}};
  }
  return {.event = FeedEvent{.kind = EventKind::kDeleted,
                             .post = asked.Post(),
                             .author = Asked::Id(*author, "author_id")}};
}

Call ChangePost(const Asked& asked) {
  asked.Takes({});
  constexpr std::pair<std::string_view, EventKind> kActions[] = {
      {"hide", EventKind::kHidden}, {"unhide", EventKind::kUnhidden}, {"edit", EventKind::kEdited}};
  const std::string& name = asked.Segment(1);
  const auto* action = std::find_if(std::begin(kActions), std::end(kActions),
                                    [&](const auto& each) { return each.first == name; });
  if (action == std::end(kActions)) {
    throw Refused{{Code::kNotFound,
                   Quoted(name) + " cannot be done to a post; there are hide, unhide, edit"}};
  }
  FeedEvent event{.kind = action->second, .post = asked.Post()};
  Members body(asked.body(), {"author_id", "version"});
  event.author = body.Author();
  event.version = body.Number("version", UINT64_MAX - 1,
                              "; send the post's own version, from 1 on, growing with each change");
  body.Finish();
  return {.event = event};
}

}  // namespace fanline::api
