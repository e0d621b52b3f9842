// What must be true at rest: every live timeline, every edge and every counter.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/clients.h"

namespace fanline::sim {

struct Checks {
  World& world;
  const Application& application;
  const Clients& clients;

  std::vector<Item> Expected(UserId reader) const {
    std::map<PostId, PostState> states;
    for (const FeedEvent& event : clients.events) ApplyEvent(event, states[event.post]);
    std::vector<Item> items;
    for (const auto& [post, state] : states) {
      if (!state.visible()) continue;
      const auto& edges = world.mysql.relations.forward();  // CheckEdges came first
      const auto edge = edges.find({reader, clients.author_of.at(post)});
      if (edge != edges.end() && edge->second.live) {
        // Of two publishes the first to be stored wins, which no client can know.
        items.push_back(
            {post, *world.mysql.posts().at({clients.author_of.at(post), post}).created_at});
      }
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
    std::vector<Item> expected = Expected(reader);
    std::erase_if(expected, [floor](const Item& item) { return item.created_at <= floor; });
    std::vector<Item> held;
    for (const auto& [post, created_at] : timeline.items) {
      if (created_at > floor) held.push_back({post, created_at});
    }
    std::sort(held.begin(), held.end(), IsNewer);
    ++world.counts.checked_timelines;
    world.counts.checked_items += held.size();
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

  // Both directions say the same (I1), the rows say what the clients said last (I3), and the
  // counters agree with the rows (I2).
  std::string CheckEdges() {
    const auto& relations = world.mysql.relations;
    if (relations.forward() != relations.reverse()) return "forward and reverse disagree";
    std::map<UserId, int64_t> fans;
    for (const auto& [key, edge] : relations.forward()) {
      if (!world.said.MayBe(key, edge.live)) {
        return "the edge of " + ToString(key.src) + " and " + ToString(key.dst) +
               " is not what was asked for last";
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

  std::string CheckPosts() const {
    for (const auto& [post, author] : clients.author_of) {
      const auto row = world.mysql.posts().find({author, post});
      if (row == world.mysql.posts().end() || !row->second.created_at) {
        return "post " + ToString(post) + " was lost";
      }
    }
    return {};
  }

  std::string Check() {
    if (!world.trouble.empty()) return world.trouble;
    if (auto wrong = CheckPosts(); !wrong.empty()) return wrong;
    if (auto wrong = CheckEdges(); !wrong.empty()) return wrong;
    if (auto wrong = application.Check(); !wrong.empty()) return wrong;
    if (world.character.healthy && world.counts.checks + world.counts.repairs > 0) {
      return "an edge was checked though nothing had gone wrong";
    }
    for (const auto& [reader, timeline] : world.redis.timelines()) {
      if (auto wrong = CheckTimeline(reader, timeline); !wrong.empty()) return wrong;
    }
    return {};
  }
};

}  // namespace fanline::sim
