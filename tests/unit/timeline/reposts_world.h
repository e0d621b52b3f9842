// The world of tests with reposts, and a plain model of what a walk shows: every source that the
// reader follows, folded by hand.
#pragma once

#include <map>
#include <ostream>
#include <vector>

#include "tests/unit/seeded.h"
#include "tests/unit/timeline/world.h"

namespace fanline::timeline {

// An item as the model has it, and as a page shows it.
struct Told {
  uint64_t post = 0;
  Position place;
  UnixMs created_at = 0;
  bool posted = false;
  std::vector<Repost> reposts{};

  bool operator==(const Told& other) const {
    return post == other.post && place.created_at == other.place.created_at &&
           place.post == other.place.post && created_at == other.created_at;
  }
  friend std::ostream& operator<<(std::ostream& out, const Told& told) {
    return out << told.post << " at " << told.place.created_at << "/" << Raw(told.place.post)
               << " of " << told.created_at;
  }
};

struct RepostWorld : World {
  explicit RepostWorld(bool own = false, const ShardMap& map = OneShard(),
                       const WindowLimits& window = kWindow)
      : World(own, map, window) {}

  void Do(FeedEvent event) { mysql.Do(ApplyEvents{1, 0, {std::move(event)}}); }
  void Repost(UserId by, uint64_t post, UnixMs at, const Original& original) {
    FeedEvent event{EventKind::kPublished, PostId{post}, by, at, 0};
    event.repost_of = original;
    Do(event);
  }
  void RepostMerged(UserId by, uint64_t post, UnixMs at, const Original& original) {
    mysql.SetMode(by, true);
    Repost(by, post, at, original);
    mysql.SetMode(by, false);
  }
  void Hide(UserId author, uint64_t post, bool hide = true) {
    Do({hide ? EventKind::kHidden : EventKind::kUnhidden, PostId{post}, author, 0, ++version});
  }
  void Mute(UserId author) {
    mysql.relations.Do(
        ChangeMutes{.user = kBob, .what = ChangeMutes::What::kMute, .authors = {author}});
    redis.rules.fence = false;
    redis.Do(SetMutes{.reader = kBob, .mutes = mysql.relations.mutes(kBob).mark()});
  }

  const PostState* StateOf(const Original& original) const {
    const auto found = mysql.posts().find(original.key());
    return found == mysql.posts().end() ? nullptr : &found->second;
  }
  // All sources that count, newest first.
  std::vector<Item> Counted() {
    std::vector<Item> sources = Everything();
    const auto& mutes = mysql.relations.mutes(kBob);
    const std::vector<UserId> chosen = mysql.NoReposts(kBob);
    std::erase_if(sources, [&](const Item& item) {
      if (mutes.Has(item.author)) return true;
      if (!item.original) return false;
      if (std::binary_search(chosen.begin(), chosen.end(), item.author)) return true;
      const PostState* state = StateOf(item.original);
      return state == nullptr || !state->visible() || mutes.Has(item.original.author);
    });
    return sources;
  }
  std::vector<Told> Merged() {
    std::vector<Told> told;
    std::map<PostId, size_t> at;
    for (const Item& source : Counted()) {
      const PostId shown = source.original ? source.original.post : source.post;
      const auto [found, is_new] = at.try_emplace(shown, told.size());
      if (is_new) {
        const UnixMs created =
            source.original ? *StateOf(source.original)->created_at : source.created_at;
        told.push_back({Raw(shown), PlaceOf(source), created});
      }
      Told& item = told[found->second];
      if (!source.original) {
        item.posted = true;
        continue;
      }
      const bool named = std::any_of(item.reposts.begin(), item.reposts.end(),
                                     [&](const auto& one) { return one.by == source.author; });
      if (!named) item.reposts.push_back({source.author, source.created_at, source.post});
    }
    return told;
  }
  std::vector<Told> Each(bool reposts) {
    std::vector<Told> told;
    for (const Item& source : Counted()) {
      if (source.original && !reposts) continue;
      told.push_back({Raw(source.post), PlaceOf(source), source.created_at});
    }
    return told;
  }
  std::vector<Told> Expected(Reposts how) {
    return how == Reposts::kMerge ? Merged() : Each(how == Reposts::kEach);
  }

  static std::vector<Told> ToldBy(const Page& page) {
    std::vector<Told> told;
    for (size_t i = 0; i < page.items.size(); ++i) {
      const Item& item = page.items[i];
      Told one{Raw(item.post), PlaceOf(page, i), item.created_at};
      if (!page.sources.empty()) {
        one.posted = page.sources[i].posted;
        one.reposts = page.sources[i].reposts;
      }
      told.push_back(one);
    }
    return told;
  }
  // What a page says of sources beyond the places.
  void CheckSources(const Page& page, const std::vector<Told>& all) {
    if (page.sources.empty()) return;
    for (size_t i = 0; i < page.items.size(); ++i) {
      const Sources& shown = page.sources[i];
      const auto found = std::find_if(all.begin(), all.end(), [&](const Told& each) {
        return each.post == Raw(page.items[i].post);
      });
      ASSERT_NE(found, all.end());
      EXPECT_EQ(page.items[i].kind(), ItemKind::kPost);
      ASSERT_LE(shown.reposts.size(), std::min<size_t>(found->reposts.size(), Fold::kNamed));
      EXPECT_TRUE(std::equal(shown.reposts.begin(), shown.reposts.end(), found->reposts.begin()))
          << "the newest of " << found->post;
      EXPECT_LE(shown.posted, found->posted);
      if (shown.more || shown.reposts.empty()) continue;
      EXPECT_EQ(shown.reposts.size(), found->reposts.size()) << "says that these are all";
      EXPECT_EQ(shown.posted, found->posted);
    }
  }
  std::vector<Told> WalkTold(PageQuery query) {
    std::vector<Told> walked;
    const std::vector<Told> all = Merged();
    for (int pages = 0; pages < 1'000; ++pages) {
      const Page page = Read(query);
      EXPECT_LE(page.items.size(), query.limit);
      EXPECT_FALSE(page.incomplete);
      const auto told = ToldBy(page);
      walked.insert(walked.end(), told.begin(), told.end());
      CheckSources(page, all);
      if (!page.next) return walked;
      query.older_than = page.next;
    }
    ADD_FAILURE() << "the walk does not end";
    return walked;
  }

  // Few originals, some of authors whom nobody follows; reposts may be dated before them. Returns
  // whether the timeline is live.
  bool MakeUp(fanline::testing::Seeded& random) {
    const bool live = !random.OneIn(3), early = random.OneIn(2);
    const uint64_t authors = 1 + random.Below(7);
    for (uint64_t author = 0; author < authors; ++author) {
      if (random.OneIn(4)) continue;
      Follow(UserId{100 + author});
      const bool chooses = !live && random.OneIn(6);
      if (chooses) mysql.relations.Choose(kBob, UserId{100 + author}, Delivery::kNoReposts);
    }
    const bool viral = random.OneIn(4);
    std::vector<Original> originals;
    const uint64_t posts = 5 + random.Below(60), spread = 1 + random.Below(80);
    for (uint64_t post = 1; post <= posts; ++post) {
      const UserId author = random.OneIn(8) ? kBob : UserId{100 + random.Below(authors + 2)};
      const auto at = 1'000 + static_cast<UnixMs>(random.Below(spread));
      const uint64_t id = random.OneIn(2) ? post : 100'000 - post;
      const bool merged = random.OneIn(6);
      if (!originals.empty() && (viral ? !random.OneIn(20) : random.OneIn(2))) {
        const Original& original = originals[viral ? 0 : random.Below(originals.size())];
        merged ? RepostMerged(author, id, at, original) : Repost(author, id, at, original);
        continue;
      }
      merged ? PublishMerged(author, id, at) : Publish(author, id, at);
      if (originals.size() < 6 || random.OneIn(5)) originals.push_back({PostId{id}, author});
    }
    for (const Original& original : originals) {
      if (random.OneIn(5)) Hide(original.author, Raw(original.post));
    }
    if (early && live) Activate();
    for (uint64_t author = 0; author < authors; ++author) {
      if (random.OneIn(6)) Mute(UserId{100 + author});
    }
    if (!early && live) Activate();
    return live;
  }

  virtual Page Read(const PageQuery& query) { return Home(query); }
  virtual ~RepostWorld() = default;

  uint64_t version = 0;
};

inline std::vector<Told> Between(std::vector<Told> all, const std::optional<Position>& older_than,
                                 const std::optional<Position>& newer_than) {
  std::erase_if(all, [&](const Told& each) {
    const Item place = ItemAt(each.place);
    return (older_than && !IsNewer(ItemAt(*older_than), place)) ||
           (newer_than && !IsNewer(place, ItemAt(*newer_than)));
  });
  return all;
}

}  // namespace fanline::timeline
