// Readers who walk from page to page while everything else goes on. An item that did not change
// during a whole walk must be on its pages, once and in order. Reposts are items of their own here:
// they stand as long as their originals do. Unchanged means: it was visible and its author
// followed, and wanted with reposts if it is one; and within the part where a live timeline is
// complete, the timeline held it or marked its author. A page says so if it lacks the posts of
// shards that did not answer. What was gone when a page was asked for, and stayed so, is not on it.
// Between a page's requests and their replies anything may happen.
//
// Walks draw from a sequence of their own and change nothing, so schedules are the same with and
// without them.
#pragma once

#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "tests/sim/page_reads.h"

namespace fanline::sim {

struct Walks {
  explicit Walks(World& of) : world(of), random(of.options.seed ^ 0xd1b54a32d192ed03) {}

  World& world;
  std::mt19937_64 random;

  struct Newer {
    bool operator()(const Item& a, const Item& b) const { return IsNewer(a, b); }
  };
  struct Unseen {
    UserId author{};
    bool held = false, visible = false, followed = false, unmuted = false;
  };
  using Look = std::tuple<bool, std::optional<Floor>, size_t, size_t>;
  struct Walk {
    UserId reader{};
    timeline::PageQuery query;
    std::map<Item, UserId, Newer> still{};  // items that have not changed so far, with their
                                            // authors
    std::optional<Item> last{};             // the last one shown
    std::optional<PageUnderWay> page{};
    // When the page was asked for: how the timeline looked, and posts that nobody could show.
    Look before{};
    std::map<PostId, Unseen> gone{};
  };
  std::deque<Walk> walks{};
  timeline::MutesCache remembered{2 * timeline::MutesCache::kBytesBeside};
  uint64_t process = 0;  // another API process than the one that rebuilds

  void Start() { process = ++world.incarnations; }

  // Called after each event of the schedule.
  void Step() {
    for (Walk& walk : walks) {
      for (auto at = walk.gone.begin(); at != walk.gone.end();) {
        at = MayShow(walk.reader, at->first, at->second) ? walk.gone.erase(at) : std::next(at);
      }
      std::erase_if(walk.still, [&](const auto& each) {
        return !Stands(walk.reader, each.second, each.first);
      });
    }
    const uint64_t what = random() % 100;
    if (what < 4 && walks.size() < 2) return Begin();
    if (what < 90 && !walks.empty() && !GoOn(walks.front())) walks.pop_front();
    if (walks.size() > 1 && what % 4 != 0 && !GoOn(walks.back())) walks.pop_back();
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
    if (!world.Reads(reader, author) || MayBeMuted(reader, author)) return false;
    const Original& original = row->second.original;
    if (original) {
      const auto shown = world.ShownBy({item.post, item.created_at, author, original});
      if (!shown || !world.ReadsReposts(reader, author)) return false;
      if (MayBeMuted(reader, shown->author) || MayBeMuted(reader, original.author)) return false;
    }
    const auto live = world.redis.timelines().find(reader);
    if (live == world.redis.timelines().end() || live->second.building) return true;
    if (item.created_at <= *live->second.floor) return true;
    if (row->second.pushed) return live->second.items.contains(item.post);
    const bool marked =
        live->second.marks.contains({author, false}) || (!original && live->second.Marks(author));
    return live->second.more_marks || marked;
  }

  // A live timeline that was not told yet names what its reader muted before.
  bool IsTold(UserId reader) const {
    const auto live = world.redis.timelines().find(reader);
    return live == world.redis.timelines().end() || live->second.building ||
           live->second.mutes == world.mysql.relations.mutes(reader).mark();
  }
  bool MayBeMuted(UserId reader, UserId author) const {
    return !IsTold(reader) || world.mysql.relations.mutes(reader).Has(author);
  }

  // Whether a page may show the post: the timeline held it, or it was visible and, at the same time
  // or another, its author was followed or still marked.
  bool MayShow(UserId reader, PostId post, Unseen& of) const {
    const auto live = world.redis.timelines().find(reader);
    if (live != world.redis.timelines().end()) {
      of.held |= live->second.items.contains(post);
      of.followed |= live->second.Marks(of.author);
    }
    const auto row = world.mysql.posts().find({of.author, post});
    of.visible |= row != world.mysql.posts().end() && row->second.visible();
    of.followed |= world.Reads(reader, of.author);
    of.unmuted |= !IsTold(reader) || !world.mysql.relations.mutes(reader).Has(of.author);
    return (of.held || (of.visible && of.followed)) && of.unmuted;
  }
  Look Looks(UserId reader) const {
    const auto live = world.redis.timelines().find(reader);
    if (live == world.redis.timelines().end()) return {};
    const auto& timeline = live->second;
    return {timeline.building, timeline.floor, timeline.items.size(), timeline.marks.size()};
  }

  void Begin() {
    Walk walk{
        AnyOwner(),
        {.limit = 1 + static_cast<uint32_t>(random() % 8), .reposts = timeline::Reposts::kEach}};
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

  // Takes one step of a page. Returns false when the walk has ended. A client whose page failed, or
  // who has left, often asks for the same page again.
  bool GoOn(Walk& walk) {
    if (!walk.page) {
      BeginPage(walk);
      return true;
    }
    walk.page->Step(random);
    if (walk.page->ended()) {
      if (walk.page->status().done()) return EndPage(walk);
      if (!walk.page->failed()) Wrong(walk, "got no page though every request was answered");
      world.Count(Letter::kPageFailed);
    } else if (random() % 150 == 0) {
      world.Count(Letter::kPageLeft);
    } else {
      return true;
    }
    walk.page.reset();
    return random() % 4 != 0;
  }

  void BeginPage(Walk& walk) {
    const bool partly = random() % 8 != 0;
    walk.page.emplace(PageStores{world, process}, walk.reader, walk.query,
                      partly ? TruthReads::Answers::kPartly : TruthReads::Answers::kWhole,
                      &remembered);
    walk.before = Looks(walk.reader);
    walk.gone.clear();
    if (random() % 4 != 0) return;
    for (const auto& [key, state] : world.mysql.posts()) {
      Unseen post{key.first};
      if (!MayShow(walk.reader, key.second, post)) walk.gone.emplace(key.second, post);
    }
  }

  // Every unchanged item up to the end of the page must be on it or on an earlier page, unless the
  // page says that it is incomplete and a shard was silent.
  bool EndPage(Walk& walk) {
    const timeline::Page page = walk.page->Take();
    ++world.counts.pages;
    if (walk.before != Looks(walk.reader)) world.Count(Letter::kPageOvertaken);
    if (page.incomplete) world.Count(Letter::kPageLacks);
    if (page.incomplete && !walk.page->failed()) {
      Wrong(walk, "was told that a page is incomplete though every request was answered");
    }
    if (page.items.size() > walk.query.limit) Wrong(walk, "was shown more than it asked for");
    if (page.mutes_unknown && !walk.page->failed()) {
      Wrong(walk, "was shown all authors though every request was answered");
    }
    for (size_t i = 0; i < page.items.size(); ++i) {
      CheckShown(walk, page, ItemAt(timeline::PlaceOf(page, i)));
    }
    for (auto at = walk.still.begin(); at != walk.still.end();) {
      const auto& [item, author] = *at;
      if (page.next && IsNewer(ItemAt(*page.next), item)) break;  // on a later page
      const bool lacks =
          page.mutes_unknown || (page.incomplete && MayLack(*walk.page, item, author));
      if (!lacks) Wrong(walk, "was not shown " + ToString(item.post) + ", which stood still");
      at = walk.still.erase(at);
    }
    walk.page.reset();
    walk.query.older_than = page.next;
    return page.next.has_value();
  }

  void CheckShown(Walk& walk, const timeline::Page& page, const Item& item) {
    const std::string post = ToString(item.post);
    if (walk.last && !IsNewer(*walk.last, item)) {
      Wrong(walk, "was shown " + post + " twice, or out of order");
    }
    if (walk.query.newer_than && !IsNewer(item, ItemAt(*walk.query.newer_than))) {
      Wrong(walk, "was shown " + post + ", which is not new");
    }
    const auto gone = walk.gone.find(item.post);
    const bool may_be_muted =
        page.mutes_unknown && gone != walk.gone.end() && !gone->second.unmuted;
    if (gone != walk.gone.end() && !may_be_muted)
      Wrong(walk, "was shown " + post + ", which was long gone");
    walk.last = item;
    world.counts.walked += walk.still.erase(item);
  }

  // A live timeline holds what is pushed above its floor, whatever the shards do. All that is
  // merged there may be left out together.
  bool MayLack(const PageUnderWay& page, const Item& item, UserId author) const {
    const Original& original = world.mysql.posts().at({author, item.post}).original;
    const auto shown = world.ShownBy({item.post, item.created_at, author, original});
    for (const UserId of : {original.author, shown ? shown->author : UserId{}}) {
      if (original && page.Silent(world.shards.ShardOf(of))) return true;
    }
    if (!page.Above(item.created_at)) return page.Silent(world.shards.ShardOf(author));
    return !world.mysql.posts().at({author, item.post}).pushed;
  }

  void Wrong(const Walk& walk, const std::string& what) {
    if (!world.trouble.empty()) return;
    world.trouble = "a walk of reader " + ToString(walk.reader) + " " + what;
    world.Trace(world.trouble);
  }
};

}  // namespace fanline::sim
