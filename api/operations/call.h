// An operation of the API is one function in a file of this folder. It reads its request, names the
// users whose shards it needs, asks the store and answers. A new one is a file and a row in
// routes.cpp.
//
// Answers: ids and versions are decimal strings, for a reader of JSON would round them; times are
// integers, Unix milliseconds, and end in _ms.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/operations/asked.h"
#include "api/operations/problem.h"
#include "fanline/base/outcome.h"
#include "fanline/model/event.h"
#include "fanline/ports/cursor.h"
#include "fanline/ports/relation_store.h"
#include "timeline/hydration.h"
#include "timeline/reader.h"

namespace fanline::api {

using Json = nlohmann::ordered_json;

// What a call needs to know besides its request.
struct Context {
  uint64_t unix_us = 0;  // wall time
  uint32_t following_limit = 0;
};

// What a page of posts shows besides its items.
struct PageFacts {
  // Of a home timeline: from Redis; pulled from the shards while its timeline is being made live;
  // or pulled, and it is not.
  enum class State { kLive, kBuilding, kPulled };
  State state = State::kLive;
  std::optional<timeline::EmptyReason> empty_because = {};
  // Posts may be missing: of authors whose shards are away, or that the range was not pushed yet.
  bool incomplete = false;
  UnixMs settled = 0;  // posts of later times may still come in (Pages::Rules::overlap)
  // Of a page asked for with bodies; `columns` names their values.
  std::optional<timeline::Bodies> bodies = {};
  const std::vector<std::string>* columns = nullptr;
};

std::string_view NameOf(PageFacts::State state);  // "live"

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

  // Nothing was left out: when it is empty, there is nothing.
  bool whole() const { return !query.older_than && !query.newer_than; }
};

// A request that was read: one on relations, one for a page, or an event to be published.
struct Call {
  // The users whose shards are asked, first the one whose rows are read first.
  std::vector<UserId> owners;
  // Asks the store, blocking while it does; answers the body. Throws Refused, or StoreFailed.
  std::function<Json(RelationStore&, const Context&)> perform = {};
  std::shared_ptr<const PageCall> page = {};  // instead of both; pages.h serves it
  std::optional<FeedEvent> event = {};        // likewise; publisher.h serves it
};

// Reads a request. Throws Refused.
using Operation = Call (*)(const Asked&);

// What the store did not do. Later: a shard is away. Never: a fault of ours, because operations
// turn users' mistakes into Refused.
struct StoreFailed {
  Status status;
};

inline void OrFail(Status status) {
  if (!status.done()) throw StoreFailed{std::move(status)};
}

// Ends an operation whose change the limits of the installation forbid
// (fanline/ports/forward_edges.h). `over`: who follows as many users as may be. `again_in`: when
// `user`, who has changed as much as an hour allows, may change something again.
void RefuseByLimits(const std::optional<UserId>& over, UserId user,
                    const std::optional<std::chrono::seconds>& again_in, const Context& context);

}  // namespace fanline::api
