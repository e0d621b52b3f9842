// Readers who walk from page to page while everything else goes on. An item that did not change
// during a whole walk must be on its pages, once and in order. Unchanged means: it was visible and
// its author followed; and within the part where a live timeline is complete, the timeline held it
// or marked its author. Each read of a page is an await of its own.
//
// Walks draw from a sequence of their own and change nothing, so schedules are the same with and
// without them.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>

#include "tests/sim/world.h"
#include "timeline/page.h"

namespace fanline::sim {

struct Walks {
  explicit Walks(World& of) : world(of), random(of.options.seed ^ 0xd1b54a32d192ed03) {}

  World& world;
  std::mt19937_64 random;

  struct Newer {
    bool operator()(const Item& a, const Item& b) const { return IsNewer(a, b); }
  };
  struct Walk {
    UserId reader{};
    timeline::PageQuery query;
    std::map<Item, UserId, Newer> still{};  // items that have not changed so far, with their
                                            // authors
    std::optional<Item> last{};             // the last one shown
    std::optional<timeline::PageRead> page{};
  };
  std::deque<Walk> walks{};

  // Called after each event of the schedule.
  void Step() {
    for (Walk& walk : walks) {
      std::erase_if(walk.still, [&](const auto& each) {
        return !Stands(walk.reader, each.second, each.first);
      });
    }
    const uint64_t what = random() % 100;
    if (what < 4 && walks.size() < 2) return Begin();
    if (what < 50 && !walks.empty() && !GoOn(walks.front())) walks.pop_front();
    if (walks.size() > 1 && what % 2 == 0 && !GoOn(walks.back())) walks.pop_back();
  }

 private:
  UserId AnyOwner() {
    if (world.character.own_posts && random() % 2 == 0) {
      return UserId{World::kFirstAuthor + random() % world.character.authors};
    }
    return UserId{1 + random() % world.character.readers};
  }
  static Position PlaceOf(const Item& item) { return {item.created_at, item.post}; }
  static Item ItemAt(const Position& place) { return {place.post, place.created_at}; }

  bool Stands(UserId reader, UserId author, const Item& item) const {
    const auto row = world.mysql.posts().find({author, item.post});
    if (row == world.mysql.posts().end() || !row->second.visible() ||
        row->second.created_at != item.created_at) {
      return false;
    }
    if (!world.Reads(reader, author)) return false;
    const auto live = world.redis.timelines().find(reader);
    if (live == world.redis.timelines().end() || live->second.building) return true;
    if (item.created_at <= *live->second.floor) return true;
    if (row->second.pushed) return live->second.items.contains(item.post);
    return live->second.more_marks || live->second.marks.contains(author);
  }

  void Begin() {
    Walk walk{AnyOwner(), {.limit = 1 + static_cast<uint32_t>(random() % 8)}};
    for (const auto& [key, state] : world.mysql.posts()) {
      if (!state.visible()) continue;
      const Item item{key.second, *state.created_at};
      if (Stands(walk.reader, key.first, item)) walk.still.emplace(item, key.first);
    }
    if (random() % 4 == 0 && !walk.still.empty()) {  // reads what is newer than a place
      auto place = walk.still.begin();
      std::advance(place, random() % walk.still.size());
      walk.query.newer_than = PlaceOf(place->first);
      walk.still.erase(place, walk.still.end());
    }
    walks.push_back(std::move(walk));
  }

  // Makes one read of a page. Returns false when the walk has ended.
  bool GoOn(Walk& walk) {
    if (!walk.page)
      walk.page.emplace(walk.query, world.Own(walk.reader), world.options.guards.logic);
    const auto need = walk.page->needed();
    const bool of_redis = std::holds_alternative<timeline::NeedTimeline>(need);
    const Range range = RangeLayout(kRanges).RangeOf(walk.reader);
    if (of_redis ? world.NodeAway(world.slots.NodeOf(range)) : world.AnyAway()) return true;
    std::visit([&](const auto& what) { Answer(walk, what); }, need);
    return !walk.page->done() || EndPage(walk);
  }

  void Answer(Walk& walk, const timeline::NeedTimeline& need) {
    if (world.faults && random() % 10 == 0) return walk.page->OnNoTimeline();
    walk.page->OnTimeline(world.redis.Read(walk.reader, need.after, need.limit));
  }
  void Answer(Walk& walk, const timeline::NeedFollowees&) {
    walk.page->OnFollowees(world.mysql.Followees(walk.reader));
  }
  void Answer(Walk& walk, const timeline::NeedLastAt& need) {
    walk.page->OnLastAt(world.mysql.LastAt(need.authors));
  }
  void Answer(Walk& walk, const timeline::NeedItems& need) {
    walk.page->OnItems(world.mysql.Items(need.posts, need.span, need.limit));
  }
  void Answer(Walk&, const timeline::NothingNeeded&) {}

  // Every unchanged item up to the end of the page must be on it or on an earlier page.
  bool EndPage(Walk& walk) {
    const timeline::Page page = walk.page->Take();
    walk.page.reset();
    ++world.counts.pages;
    if (page.items.size() > walk.query.limit) Wrong(walk, "was shown more than it asked for");
    for (const Item& item : page.items) {
      if (walk.last && !IsNewer(*walk.last, item)) {
        Wrong(walk, "was shown " + ToString(item.post) + " twice, or out of order");
      }
      if (walk.query.newer_than && !IsNewer(item, ItemAt(*walk.query.newer_than))) {
        Wrong(walk, "was shown " + ToString(item.post) + ", which is not new");
      }
      walk.last = item;
      world.counts.walked += walk.still.erase(item);
    }
    for (const auto& [item, author] : walk.still) {
      if (page.next && IsNewer(ItemAt(*page.next), item)) break;  // on a later page
      Wrong(walk, "was not shown " + ToString(item.post) + ", which stood still");
    }
    walk.query.older_than = page.next;
    return page.next.has_value();
  }

  void Wrong(const Walk& walk, const std::string& what) {
    world.trouble = "a walk of reader " + ToString(walk.reader) + " " + what;
  }
};

}  // namespace fanline::sim
