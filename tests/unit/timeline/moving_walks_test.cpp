// Walks with reposts folded, while all that they show changes between two pages, and between the
// steps of a page: an item that stood still is shown once. The fleet's simulation walks with
// reposts as items of their own (tests/sim/walks.h).
#include <sstream>

#include "tests/unit/timeline/reposts_world.h"

namespace fanline::timeline {
namespace {

using fanline::testing::Seeded;

class MovingWorld : public RepostWorld {
 public:
  explicit MovingWorld(Seeded& random)
      : RepostWorld(random.OneIn(4), OneShard(),
                    random.OneIn(2) ? kWindow : WindowLimits{4 * kWindow.window, 60}),
        random_(random) {
    redis.rules.fence = false;
    for (uint64_t author = 100; author < 100 + authors_; ++author) {
      if (random.OneIn(5)) continue;
      Follow(UserId{author});
      if (random.OneIn(6)) mysql.relations.Choose(kBob, UserId{author}, Delivery::kNoReposts);
    }
    for (uint64_t posts = 5 + random.Below(70); posts > 0; --posts) {
      Post(1'000 + UnixMs(random.Below(60)));
    }
    if (random.OneIn(3)) Mute(UserId{100 + random.Below(authors_)});
    if (!random.OneIn(4)) Activate();
  }

  void Change() {
    while (random_.OneIn(3)) {
      switch (random_.Below(8)) {
        case 0:
          redis.Expire(kBob);
          break;
        case 1:
          ShowOrHide();
          break;
        default:
          for (uint64_t posts = random_.Below(4); posts > 0; --posts) {
            Push(Post(clock_ += UnixMs(random_.Below(3))));
          }
      }
    }
  }

  // The next page, by single steps between which all may change.
  Page PageMeanwhile(const PageQuery& query) {
    const bool changes = random_.OneIn(2);
    const TimelinePort timelines = PortTo(*this);
    PageRun run(kBob, query, OwnOf(kBob, own_posts), OneShard(), TruthReads::Answers::kWhole);
    run.OnLive(Ask(timelines, run.Begin()));
    for (auto requests = run.Filter(); !requests.empty(); requests = run.Filter()) {
      if (changes) Change();
      for (const auto& request : requests) {
        if (const auto* mutes = std::get_if<ReadMutes>(&request)) {
          run.OnMutes(Ask(*mutes));
        } else if (const auto* originals = std::get_if<ReadOriginals>(&request)) {
          run.OnOriginals(Ask(*originals));
        } else {
          run.OnLive(Ask(timelines, std::get<ReadLivePage>(request)));
        }
      }
    }
    if (changes) Change();
    if (!run.read().done()) Finish(run, run.GoOn(), &timelines);
    EXPECT_TRUE(run.read().done());
    return run.Take();
  }

 private:
  bool Follows(UserId author) {
    const auto authors = mysql.Followees(kBob);
    return (own_posts && author == kBob) ||
           std::find(authors.begin(), authors.end(), author) != authors.end();
  }
  bool WantsNoReposts(UserId author) {
    const auto chosen = mysql.NoReposts(kBob);
    return std::binary_search(chosen.begin(), chosen.end(), author);
  }
  // A post or a repost; nothing if it is merged at read, of which the timeline is told here.
  std::optional<Item> Post(UnixMs at) {
    const UserId author = random_.OneIn(8) ? kBob : UserId{100 + random_.Below(authors_ + 2)};
    const uint64_t id = random_.OneIn(2) ? ++posts_ : 1'000'000 - ++posts_;
    const bool merged = random_.OneIn(6);
    Item item{PostId{id}, at, author};
    if (!originals_.empty() && (viral_ ? !random_.OneIn(15) : random_.OneIn(2))) {
      item.original = originals_[viral_ ? 0 : random_.Below(originals_.size())];
      merged ? RepostMerged(author, id, at, item.original) : Repost(author, id, at, item.original);
    } else {
      merged ? PublishMerged(author, id, at) : Publish(author, id, at);
      if (originals_.size() < 12 || random_.OneIn(5)) originals_.push_back({item.post, author});
    }
    if (!merged) return item;
    if (Follows(author)) {
      redis.Do(TimelineBatch{.range = range_,
                             .writes = {{kBob, 0, 0, 1}},
                             .marks = {{author, WantsNoReposts(author)}}});
    }
    return std::nullopt;
  }
  void Push(const std::optional<Item>& item) {
    if (!item || !Follows(item->author)) return;
    if (item->original && WantsNoReposts(item->author)) return;
    redis.Do(TimelineBatch{.range = range_, .writes = {{kBob, 1, 0, 0}}, .adds = {*item}});
  }
  void ShowOrHide() {
    if (originals_.empty()) return;
    const Original& original = originals_[random_.Below(originals_.size())];
    Hide(original.author, Raw(original.post), random_.OneIn(2));
    const PostState& state = *StateOf(original);
    const Item item{original.post, *state.created_at, original.author};
    if (!state.pushed || !Follows(item.author)) return;
    if (state.visible()) return Push(item);
    redis.Do(TimelineBatch{.range = range_, .writes = {{kBob, 0, 1, 0}}, .removes = {item}});
  }

  Seeded& random_;
  const Range range_ = RangeLayout(kRanges).RangeOf(kBob);
  const uint64_t authors_ = 2 + random_.Below(7);
  const bool viral_ = random_.OneIn(3);
  std::vector<Original> originals_;
  uint64_t posts_ = 1'000;
  UnixMs clock_ = 1'060;
};

TEST(MovingWalks, ShowOnceWhatStandsStill) {
  Seeded random;
  size_t stood = 0, early = 0;
  for (int round = 0; round < 2'000; ++round) {
    MovingWorld w(random);
    PageQuery query{.limit = 1 + static_cast<uint32_t>(random.Below(6))};
    std::vector<Told> still = w.Merged();
    std::map<uint64_t, int> shown;
    std::ostringstream walk;
    for (int pages = 0;; ++pages) {
      ASSERT_LT(pages, 300) << "the walk does not end";
      const Page page = w.PageMeanwhile(query);
      const std::vector<Told> now = w.Merged();
      std::erase_if(still, [&](const Told& each) {
        return std::find(now.begin(), now.end(), each) == now.end();
      });
      walk << (page.live() ? "\nlive:" : "\npulled:");
      for (const Told& told : RepostWorld::ToldBy(page)) {
        ++shown[told.post];
        walk << " [" << told << "]";
      }
      early += page.live() && page.next && page.items.size() < query.limit;
      for (const Told& each : still) {
        const bool later = page.next && IsNewer(ItemAt(*page.next), ItemAt(each.place));
        ASSERT_EQ(shown[each.post], later ? 0 : 1)
            << each << ", limit " << query.limit << ", round " << round << walk.str();
        stood += !later;
      }
      if (!page.next) break;
      query.older_than = page.next;
      w.Change();
    }
  }
  EXPECT_GT(stood, 10'000u);
  EXPECT_GT(early, 20u);
}

}  // namespace
}  // namespace fanline::timeline
