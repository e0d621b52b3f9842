// An operation of the API is one function in a file in this folder. It reads its request, and says
// how it is served: by asking the shards (exchange.h), as a page, or as an event. A new operation
// is a file and a row in routes.cpp. Answers: ids and versions are decimal strings, since JSON
// readers may round large numbers. Times are integers, Unix milliseconds; their names end in _ms.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "api/operations/asked.h"
#include "fanline/model/event.h"
#include "fanline/ports/cursor.h"
#include "timeline/hydration.h"
#include "timeline/reader.h"

namespace fanline::api {

using Json = nlohmann::ordered_json;

// What a page of posts shows besides its items.
struct PageFacts {
  // For a home timeline. kLive: from Redis. kBuilding: pulled from the shards while the timeline is
  // being made live. kPulled: pulled only.
  enum class State { kLive, kBuilding, kPulled };
  static constexpr const char* kStates[] = {"live", "building", "pulled"};  // their names
  State state = State::kLive;
  std::optional<timeline::EmptyReason> empty_because = {};
  // Posts may be missing: their author's shard is away, or they are not pushed to the range yet.
  bool incomplete = false;
  bool mutes_unknown = false;  // posts of authors whom the reader mutes may be among the items
  UnixMs settled = 0;          // later posts may still arrive (Pages::Rules::overlap)
  // For a page with bodies; `columns` names their values.
  std::optional<timeline::Bodies> bodies = {};
  const std::vector<std::string>* columns = nullptr;
};

// A page of posts that was asked for.
struct PageCall {
  enum class Of { kHome, kPosts };
  Of of = Of::kHome;
  UserId user{};
  timeline::PageQuery query = {};
  std::optional<SeenCursor> newer_than = {};  // with the query's place
  bool bodies = false;                        // joined with the application's table
  // Makes the body.
  std::function<std::string(const PageCall&, const timeline::Page&, const PageFacts&)> answer;

  // Whether nothing was left out, so an empty page means that there are no posts.
  bool whole() const { return !query.older_than && !query.newer_than; }
};

class Exchange;

// The classes of work that a shard's workers do: for relations, what is merged into live pages,
// pulled pages, and rebuilds.
enum class Work : size_t { kChanges, kLookups, kMerges, kPulls, kRebuilds };
inline constexpr size_t kWorkClasses = 5;

// A request that was read: one on relations, one for a page, or an event to be published.
struct Call {
  Work work = Work::kLookups;
  std::function<void(Exchange& shards)> begin = {};
  std::shared_ptr<const PageCall> page = {};  // instead; pages.h serves it
  std::optional<FeedEvent> event = {};        // likewise; publisher.h serves it
  // Likewise: asks the shards which events are to be published. `answer` is the answer once all of
  // them are.
  using Publish = std::function<void(const std::vector<FeedEvent>& events, const Response& answer)>;
  std::function<void(Exchange& shards, const Publish& publish)> find = {};
};

// Reads a request. Throws Refused.
using Operation = Call (*)(const Asked&);

}  // namespace fanline::api
