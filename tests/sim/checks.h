// What must be true at rest: every live timeline, every edge and every counter.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/clients.h"
#include "tests/sim/page_reads.h"

namespace fanline::sim {

struct Checks {
  World& world;
  const Application& application;
  const Clients& clients;

  // What the reader should see: everything, or only what belongs in the live timeline.
  std::vector<Item> Expected(UserId reader, bool only_pushed) const {
    std::map<PostId, PostState> states;
    for (const FeedEvent& event : clients.events) ApplyEvent(event, states[event.post]);
    std::vector<Item> items;
    for (const auto& [post, state] : states) {
      if (!state.visible()) continue;
      const UserId author = clients.author_of.at(post);
      if (!world.Reads(reader, author)) {  // CheckEdges has compared the edges
        if (world.mysql.relations.Live({reader, author})) world.Count(Letter::kBringsNothing);
        continue;
      }
      // If a post was published twice, the first publish to be stored wins. Clients cannot know
      // which it was, so the row tells.
      const PostState& row = world.mysql.posts().at({author, post});
      if (row.original && !world.ReadsReposts(reader, author)) {
        world.Count(Letter::kNoRepost);
        continue;
      }
      if (row.pushed || !only_pushed)
        items.push_back({post, *row.created_at, author, row.original});
    }
    std::sort(items.begin(), items.end(), IsNewer);
    return items;
  }

  static std::string Text(const std::vector<Item>& items) {
    std::string text;
    for (const Item& item : items) {
      text += " " + ToString(item.post) + "@" + std::to_string(item.created_at);
    }
    return text.empty() ? " (none)" : text;
  }

  std::string CheckTimeline(UserId reader, const fakes::FakeRedis::Timeline& timeline) {
    if (timeline.building) return {};  // its reader gave up; its TTL deletes it
    const Floor floor = *timeline.floor;
    std::vector<Item> expected = Expected(reader, true);
    std::erase_if(expected, [floor](const Item& item) { return item.created_at <= floor; });
    std::vector<Item> held;
    for (const auto& [post, item] : timeline.items) {
      if (item.created_at > floor) held.push_back(item);
    }
    std::sort(held.begin(), held.end(), IsNewer);
    ++world.counts.checked_timelines;
    world.counts.checked_items += held.size();
    for (const Item& item : held) {
      if (item.author == reader) world.Count(Letter::kOwn);
    }
    if (timeline.more_marks) world.Count(Letter::kMoreMarks);
    if (held != expected) {
      return "timeline of reader " + ToString(reader) + " with floor " + std::to_string(floor) +
             "\n  holds   " + Text(held) + "\n  expected" + Text(expected);
    }
    if (floor != kNoFloor && timeline.items.size() < world.window().underfilled_below()) {
      return "timeline of reader " + ToString(reader) + " holds only " +
             std::to_string(timeline.items.size()) + " items above a floor";
    }
    if (timeline.items.size() > world.window().max_entries) {
      return "timeline of reader " + ToString(reader) + " outgrew its bound";
    }
    return {};
  }

  // A missing mark hides posts, and a surplus mark shows posts of somebody who is not followed.
  std::string CheckMarks(UserId reader, const fakes::FakeRedis::Timeline& timeline) const {
    for (const auto& [key, row] : world.mysql.posts()) {
      if (row.pushed || timeline.more_marks || !world.Reads(reader, key.first)) continue;
      if (timeline.marks.contains({key.first, !world.ReadsReposts(reader, key.first)})) continue;
      return "timeline of reader " + ToString(reader) + " does not mark " + ToString(key.first);
    }
    for (const Mark& mark : timeline.marks) {
      const bool reposts = !mark.no_reposts;
      if (world.Reads(reader, mark.author) && world.ReadsReposts(reader, mark.author) == reposts) {
        continue;
      }
      return "timeline of reader " + ToString(reader) + " marks " + ToString(mark.author) +
             (reposts ? "" : " without reposts");
    }
    return {};
  }

  std::string CheckMutes(UserId reader, const fakes::FakeRedis::Timeline& timeline) const {
    const uint64_t mutes = world.mysql.relations.mutes(reader).mark();
    if (timeline.mutes == mutes) return {};
    return "timeline of reader " + ToString(reader) + " names version " +
           std::to_string(timeline.mutes) + " of his mutes, which is " + std::to_string(mutes);
  }

  // A place in a walk, and the post that is shown there.
  using Line = std::pair<Item, PostId>;
  static std::string Text(const std::vector<Line>& lines) {
    std::string text;
    for (const auto& [place, post] : lines) {
      text += " " + ToString(place.post) + "@" + std::to_string(place.created_at);
      if (post != place.post) text += "=" + ToString(post);
    }
    return text.empty() ? " (none)" : text;
  }

  // What a walk is to show. `merge`: an original and its reposts once, where the newest stands.
  std::vector<Line> Walked(UserId reader, bool merge) {
    const Mutes& mutes = world.mysql.relations.mutes(reader);
    std::vector<Line> lines;
    std::set<Original> seen;
    for (const Item& source : Expected(reader, false)) {
      const auto shown = world.ShownBy(source);
      if (!shown) {
        world.Count(Letter::kOriginalGone);
      } else if (mutes.Has(source.author) || mutes.Has(source.original.author) ||
                 mutes.Has(shown->author)) {
        world.Count(Letter::kFiltered);
      } else if (!merge || seen.insert(*shown).second) {
        lines.emplace_back(Item{source.post, source.created_at}, shown->post);
      }
    }
    return lines;
  }

  // Reads page by page as things are now: live down to the floor, then pulled. A repost that names
  // a repost has two names, so a page may show it twice: then each is looked at by itself.
  std::string CheckWalk(UserId reader) {
    const uint32_t limit = 1 + static_cast<uint32_t>(world.Pick(9));
    const auto& rows = world.mysql.posts();
    const bool one_name = std::none_of(rows.begin(), rows.end(), [&](const auto& each) {
      const auto named = rows.find(each.second.original.key());
      return named != rows.end() && named->second.original;
    });
    const bool merge = one_name && Raw(reader) % 2 == 0;
    std::vector<Line> walked;
    std::optional<Position> next;
    do {
      PageUnderWay read({world}, reader,
                        {.limit = limit,
                         .older_than = next,
                         .reposts = merge ? timeline::Reposts::kMerge : timeline::Reposts::kEach},
                        TruthReads::Answers::kWhole);
      const timeline::Page page = read.Finish();
      // One that shows little of what it read of a live timeline may hold fewer.
      const size_t least = page.live() ? 1 : limit;
      if (page.next && page.items.size() < least) return "a page that is not the last is not full";
      for (size_t i = 0; i < page.items.size(); ++i) {
        const Position place = timeline::PlaceOf(page, i);
        const Item& item = page.items[i];
        walked.emplace_back(Item{place.post, place.created_at},
                            item.original ? item.original.post : item.post);
      }
      next = page.next;
    } while (next && walked.size() < 10'000);
    world.Count(Letter::kWalked);
    const std::vector<Line> expected = Walked(reader, merge);
    if (walked == expected) return {};
    return "a walk of reader " + ToString(reader) + (merge ? ", merged" : "") + "\n  shows   " +
           Text(walked) + "\n  expected" + Text(expected);
  }

  template <class Edges>
  static std::optional<EdgeKey> Disagreeing(const Edges& forward, const Edges& reverse) {
    for (const auto& [rows, others] :
         {std::pair(&forward, &reverse), std::pair(&reverse, &forward)}) {
      for (const auto& [key, row] : *rows) {
        const auto other = others->find(key);
        if (other == others->end() || !(other->second == row)) return key;
      }
    }
    return std::nullopt;
  }

  // Both directions agree (I1), the rows have what the clients said last (I3), and the counters
  // agree with the rows (I2).
  std::string CheckEdges() {
    const auto& relations = world.mysql.relations;
    if (const auto edge = Disagreeing(relations.forward(), relations.reverse())) {
      const auto text = [&](const auto& rows) {
        const auto row = rows.find(*edge);
        if (row == rows.end()) return std::string("no row");
        return std::to_string(row->second.ver) + (row->second.live ? " live " : " ended ") +
               NameOf(row->second.delivery);
      };
      return "forward and reverse disagree about " + ToString(edge->src) + " and " +
             ToString(edge->dst) + ": " + text(relations.forward()) + ", " +
             text(relations.reverse());
    }
    std::map<UserId, int64_t> fans;
    for (const auto& [key, edge] : relations.forward()) {
      if (!world.said.MayBe(key, edge.live)) {
        return "the edge of " + ToString(key.src) + " and " + ToString(key.dst) +
               " is not what was asked for last";
      }
      if (!world.said.MayBring(key, edge.delivery)) {
        return "what the edge of " + ToString(key.src) + " and " + ToString(key.dst) +
               " brings is not what was chosen last";
      }
      fans[key.dst] += edge.live ? 1 : 0;
      ++world.counts.checked_edges;
    }
    for (const EdgeKey& edge : world.said.Edges()) {
      const bool written = relations.forward().contains(edge);
      if (!written && !world.said.MayBe(edge, false)) {
        return "a follow of " + ToString(edge.src) + " was lost";
      }
    }
    for (const auto& [user, count] : relations.fans()) {
      if (count != fans[user]) return "the counter of " + ToString(user) + " is wrong";
    }
    return {};
  }

  // Without semi-synchronous replication an acknowledged row need not survive a failover. The
  // promise is this: once the application has published the lost posts and changes again, in any
  // order, the state is as if none had been lost.
  std::string CheckPosts() const {
    for (const auto& [post, author] : clients.author_of) {
      const auto row = world.mysql.posts().find({author, post});
      if (row == world.mysql.posts().end() || !row->second.created_at) {
        return "post " + ToString(post) + " was lost";
      }
    }
    return {};
  }

  // A range that starts again at the end of its log skips damaged hints, so then not all need be
  // found.
  std::string CheckOddHints() const {
    const Character& of = world.character;
    return world.odd_hints.Check(of.rollback + of.flush + of.lose_head + of.lose_tail == 0);
  }

  std::string CheckModes() const {
    for (const auto& [author, pull] : clients.set_by_hand) {
      if (world.mysql.ModeOf(author).pull == pull) continue;
      return "author " + ToString(author) + " is not " + (pull ? "pulled" : "pushed") +
             " any more, as was set by hand";
    }
    return {};
  }

  // While the mirror lags, a pair is checked whose msg2 lies unread in relation-log. If the edge
  // has changed again by then, the newer change may be brought by the repair (verdict.h).
  std::string CheckWasNeeded() const {
    if (!world.character.healthy) return {};
    if (world.counts.first_rows > 0) return "a repair brought a row though nothing had gone wrong";
    if (world.character.lags || world.counts.checks + world.counts.repairs == 0) return {};
    return "an edge was checked though nothing had gone wrong";
  }

  std::string Check() {
    if (!world.trouble.empty()) return world.trouble;
    if (auto wrong = CheckPosts(); !wrong.empty()) return wrong;
    if (auto wrong = CheckModes(); !wrong.empty()) return wrong;
    if (auto wrong = CheckOddHints(); !wrong.empty()) return wrong;
    if (world.dead_letters.of_events != world.dead_letters.unusable) {
      return "the dead letters are not the events that could not be used";
    }
    if (auto wrong = CheckEdges(); !wrong.empty()) return wrong;
    if (auto wrong = application.Check(); !wrong.empty()) return wrong;
    if (auto wrong = CheckWasNeeded(); !wrong.empty()) return wrong;
    if (!world.redis.spelled_twice.empty()) {
      return "post " + ToString(*world.redis.spelled_twice.begin()) +
             " was written in two spellings";
    }
    for (const auto& [reader, timeline] : world.redis.timelines()) {
      if (auto wrong = CheckTimeline(reader, timeline); !wrong.empty()) return wrong;
      if (timeline.building) continue;
      if (auto wrong = CheckMarks(reader, timeline); !wrong.empty()) return wrong;
      if (auto wrong = CheckMutes(reader, timeline); !wrong.empty()) return wrong;
      if (!timeline.more_marks && timeline.marks.empty() && timeline.mutes == 0) continue;
      if (auto wrong = CheckWalk(reader); !wrong.empty()) return wrong;
    }
    return {};
  }
};

}  // namespace fanline::sim
