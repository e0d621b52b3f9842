// Joins a page of posts with their bodies. A post whose body is gone from the application's table
// leaves the page with all its reposts, and the page is refilled from behind its last item, a
// bounded number of times.
//
// The page goes on behind the last post that was looked up, gone or not. So a walk shows no post
// twice and skips none that is there. A page may hold fewer posts than asked for, even none, and
// still have a next page: when more are gone than the refills bring, when bodies are large, or when
// a refill fails.
//
// If no bodies can be read (the application's database is away or slow), the page stays as it was.
//
// Passive: needed() says which read comes next, On...() takes its answer. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "fanline/ports/post_bodies.h"
#include "timeline/page.h"

namespace fanline::timeline {

// What a page with bodies shows besides its items.
struct Bodies {
  bool available = false;            // false: no item has one, and none was left out
  std::vector<BodyValues> of_items;  // one per item
  std::optional<Position> newest;    // where the page begins, even if that post is gone
  size_t gone = 0;                   // posts left out
};

struct NeedPage {
  PageQuery query;
};
struct NeedBodies {
  std::vector<PostId> posts;
};
using HydrationNeed = std::variant<NeedPage, NeedBodies, NothingNeeded>;

class Hydration {
 public:
  static constexpr uint32_t kRefills = 4;

  explicit Hydration(const PageQuery& query) : query_(query) {}

  // The first page, a refill (a query from behind what was looked up on), or bodies.
  HydrationNeed needed() const;
  void OnPage(Page page);
  void OnNoPage() { stage_ = Stage::kDone; }  // a refill failed: the page ends where it is
  void OnBodies(BodiesRead read);
  void OnNoBodies();

  bool done() const { return stage_ == Stage::kDone; }
  // When done.
  Page Take(Bodies* bodies);

 private:
  enum class Stage { kPage, kBodies, kDone };

  const PageQuery query_;
  Stage stage_ = Stage::kPage;
  uint32_t refills_ = 0;
  void TakeAsked(size_t item);

  Folded asked_;                        // items whose bodies are looked up
  std::optional<Position> asked_next_;  // where the page goes on behind these
  Page page_;                           // next: behind what was looked up
  Bodies bodies_;
};

}  // namespace fanline::timeline
