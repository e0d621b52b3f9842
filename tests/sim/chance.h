// The random draws of a schedule from its seed, its clock and its counts.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <random>
#include <string>

#include "fanline/model/delivery.h"
#include "fanline/ports/live_timelines.h"
#include "tests/sim/character.h"
#include "tests/sim/fleet_options.h"

namespace fanline::sim {

inline constexpr int kRanges = 4;

struct Chances {
  explicit Chances(const FleetOptions& given) : options(given), random(given.seed) {
    DrawCharacter();
  }

  FleetOptions options;
  std::mt19937_64 random;
  Character character;
  Now now{Time(std::chrono::seconds(1)), kEpoch};
  FleetCounts counts;
  bool faults = true;
  std::string trouble;  // a violation found during the schedule

  static constexpr uint64_t kFirstAuthor = 101;
  static constexpr UnixMs kEpoch = 1'700'000'000'000;
  // Each makes a separate sequence of draws from the seed.
  static constexpr uint64_t kModes = 15;
  static constexpr uint64_t kOwners = 159;
  static constexpr uint64_t kChoices = 91;
  static constexpr uint64_t kMutes = 47;
  static constexpr uint64_t kContests = 57;
  static constexpr uint64_t kNodes = 83;
  static constexpr uint64_t kMarks = 61;
  static constexpr uint64_t kPages = 63;
  static constexpr uint64_t kRangeOwners = 71;
  static constexpr uint64_t kScans = 73;
  static constexpr uint64_t kBells = 79;
  // A schedule lasts less than a second of its own time, so a pair that takes longer is stuck.
  static constexpr int kHealthyGraceMs = 2'000;
  static constexpr Duration kPullHold = std::chrono::milliseconds(60);

  WindowLimits window() const { return {character.window, character.window + 20}; }

  Delivery AnyDelivery() { return *DeliveryOf(Draw({3, 1, 3})); }
  uint64_t Pick(uint64_t below) { return random() % below; }
  bool Chance(int percent) { return static_cast<int>(Pick(100)) < percent; }
  int PickInt(uint64_t below) { return static_cast<int>(Pick(below)); }
  // Whether something goes wrong; nothing does while the fleet comes to rest.
  bool Strikes(int percent) { return faults && Chance(percent); }
  UserId AnyReader() { return UserId{1 + Pick(character.readers)}; }
  // A user who may have a timeline: a reader, or with own posts also an author.
  UserId AnyOwner() {
    if (character.own_posts && Chance(50)) return AnyAuthor();
    return AnyReader();
  }
  uint64_t owners() const {
    return character.readers + (character.own_posts ? character.authors : 0);
  }
  UserId Owner(uint64_t number) const {  // from 1
    const uint64_t readers = character.readers;
    return UserId{number <= readers ? number : kFirstAuthor + number - readers - 1};
  }
  UserId AnyAuthor() { return UserId{kFirstAuthor + Pick(character.authors)}; }
  void Count(Letter letter) { ++counts.letters[static_cast<size_t>(letter)]; }
  void Trace(const std::string& what) {
    if (options.trace) std::printf("%6lld %s\n", static_cast<long long>(now.unix_ms), what.c_str());
  }
  // Index of one of the weights, drawn by weight; they are not all 0.
  size_t Draw(std::initializer_list<uint64_t> weights) {
    uint64_t sum = 0;
    for (uint64_t weight : weights) sum += weight;
    uint64_t at = sum == 0 ? 0 : Pick(sum);
    size_t index = 0;
    for (uint64_t weight : weights) {
      if (at < weight) return index;
      at -= weight;
      ++index;
    }
    return weights.size();
  }

 private:
  void DrawCharacter() {
    const auto weight = [this](uint64_t most) { return Chance(50) ? 0 : 1 + Pick(most); };
    character.window = static_cast<uint32_t>(Chance(50) ? 6 : 6 + Pick(40));
    character.readers = 1 + Pick(4);
    character.authors = 1 + Pick(3);
    character.posts = 5 + Pick(60);
    character.carry_out = 20 + Pick(30);
    character.turn = 20 + Pick(30);
    character.client = 1 + Pick(8);
    character.reader = 1 + Pick(10);
    character.burst = 1 + Pick(16);
    character.publish = 1 + Pick(6);
    character.change = 1 + Pick(6);
    character.follow = weight(6);
    character.time_out = weight(20);
    character.crash_pusher = weight(3);
    character.crash_dispatcher = weight(4);
    character.move_range = weight(8);
    character.move_feed = weight(4);
    character.snapshot = weight(2);
    character.rollback = character.snapshot == 0 ? 0 : weight(1);
    character.flush = Chance(80) ? 0 : 1;
    character.expire = weight(20);
    character.fault = 1 + Pick(4);
    character.hold_orphans = Chance(50) ? 0 : 50 + static_cast<int>(Pick(50));
    character.notice = 1 + static_cast<int>(Pick(50));
    character.recent = static_cast<int>(Pick(100));
    character.slow = Chance(30) ? 0 : static_cast<int>(Pick(50));
    character.slow_rebuild = Chance(30) ? 0 : 80 + static_cast<int>(Pick(20));
    character.mirror_lag = Chance(50) ? 1 : 1 + static_cast<int>(Pick(200));
    character.late = Chance(50) ? 5 : static_cast<int>(Pick(80));
    DrawRelationFaults();
    DrawAnswers();
    if (Chance(10)) BeHealthy();
    DrawMore();
  }

  // Drawn separately, so that schedules without these faults and pinned seeds keep their draws.
  void DrawMore() {
    std::mt19937_64 apart(options.seed ^ 0x9e3779b97f4a7c15);
    const auto weight = [&apart](uint64_t percent, uint64_t most) {
      return apart() % 100 < percent ? 1 + apart() % most : 0;
    };
    character.lose_head = weight(20, 6);
    character.change_mode = weight(20, 3);
    if (character.healthy) character.lose_head = 0;
    character.befriend = weight(25, 20);
    if (character.befriend > 0) character.client += 6;
    character.relation_event = weight(25, 12);
    character.lose_tail = weight(10, 6);
    character.lose_other_heads = weight(10, 4);
    if (character.relation_event > 0) {
      character.crash_event_consumer = weight(50, 4);
      character.move_event_consumer = weight(50, 6);
    }
    // Only relation-log knows of unmirrored edges. If it loses records, only a scan would find
    // these edges.
    if (character.lose_tail + character.lose_other_heads > 0) character.unmirrored = 0;
    character.leave_out = weight(30, 1) > 0;
    if (character.leave_out) {
      character.readers += weight(60, 12);
      character.counter_drift = static_cast<int>(weight(50, 60));
      character.read_lag = weight(70, 60);
      // An import bypasses everything else that changes relations.
      if (character.befriend + character.relation_event == 0) character.import = weight(70, 8);
      if (weight(50, 1) > 0) character.first_follows = 15;
    } else if (weight(40, 1) > 0) {  // posts take many pages
      character.page = 1;
      character.readers += weight(100, 12);
    }
    std::mt19937_64 modes(options.seed ^ kModes);  // apart, so most pinned seeds keep their draws
    if (modes() % 100 < 30) character.switch_mode = 1 + modes() % 4;
    if (character.switch_mode > 0 && modes() % 2 == 0) {
      character.pull_above = 1 + modes() % (kRanges * character.readers / 2 + 1);
    }
    std::mt19937_64 owners(options.seed ^ kOwners);
    character.own_posts = owners() % 100 < 20;
    std::mt19937_64 choices(options.seed ^ kChoices);
    if (choices() % 100 < 35) character.choose = 1 + choices() % 10;
    std::mt19937_64 mutes(options.seed ^ kMutes);
    if (mutes() % 100 < 20) character.mute = 1 + mutes() % 4;
    DrawRare();
    DrawScans();
  }

  // Each kind is drawn separately, so that schedules without it keep their draws.
  void DrawRare() {
    if (character.healthy) return;
    std::mt19937_64 nodes(options.seed ^ kNodes);
    if (nodes() % 100 < 20) {
      character.nodes = 2;
      character.move_slot = 1 + nodes() % 6;
      if (nodes() % 2 == 0) character.node_away = 2 + nodes() % 4;
      if (nodes() % 2 == 0) character.forget_index += 1 + nodes() % 4;
    }
    std::mt19937_64 contests(options.seed ^ kContests);
    character.short_contests = contests() % 100 < 25;
    std::mt19937_64 pages(options.seed ^ kPages);
    if (pages() % 100 < 6) {
      character.page = 1;
      character.large_page = 2 + static_cast<uint32_t>(pages() % 3);
      if (character.readers < 12) character.readers += 12;
    }
    if (pages() % 100 < 20) character.held_hints = 4 + static_cast<uint32_t>(pages() % 12);
    std::mt19937_64 marks(options.seed ^ kMarks);
    character.many_marks = marks() % 100 < 8;
    if (character.many_marks) {
      character.window = 6;
      character.authors = window().most_marks() + 2 + marks() % 4;
      character.switch_mode = 3 + marks() % 4;
      character.publish += 3;
    }
    std::mt19937_64 range_owners(options.seed ^ kRangeOwners);
    if (range_owners() % 100 < 25) character.owners_away = 1 + range_owners() % 4;
    if (!character.healthy) character.odd = Odd::Of(options.seed);
    // A row that is made again has the author's mode of that time.
    if (character.switch_mode > 0) character.odd.lose_rows = 0;
    if (character.odd.lose_changes > 0) LoseChangesOnly();
  }

  void DrawScans() {
    std::mt19937_64 scans(options.seed ^ kScans);
    Character& of = character;
    of.scans = scans() % 100 < 12;
    if (!of.scans) return;
    of.lose_tail = of.lose_other_heads = 0;
    if (of.healthy) return;
    using Escape = Character::Escape;
    of.escape = static_cast<Escape>(1 + scans() % 4);
    of.escapes = 2 + scans() % 6;
    of.odd.lose_changes = 0;
    LoseChangesOnly();
    // No scan finds a change of mutes that is marked.
    if (of.escape == Escape::kMarked) of.mute = 0;
    // Nor that a row lacks its hint: which was marked while it was being mirrored; or which was
    // lost, and was written again by a mirror that then died (decision 44).
    if (of.escape != Escape::kMarked && of.escape != Escape::kReverseLost) return;
    of.crash_mirror = of.move_mirror = of.shard_away = of.revoke_all = of.time_out = 0;
    of.odd.lock = of.odd.hang = of.odd.demote = 0;
  }

  // A change that its shard has lost is found by its msg1 alone, while its pair is open.
  void LoseChangesOnly() {
    Character& of = character;
    of.lose_tail = of.lose_other_heads = of.change_mode = of.import = 0;
    of.befriend = of.relation_event = of.crash_event_consumer = of.move_event_consumer = 0;
    of.unmirrored = 0;
    of.inline_too = of.few_pairs = false;
    of.follow += 4;
  }

  void DrawRelationFaults() {
    const auto weight = [this](uint64_t most) { return Chance(50) ? 0 : 1 + Pick(most); };
    character.crash_mirror = weight(4);
    character.crash_reconciler = weight(6);
    character.move_mirror = weight(6);
    character.move_pairs = weight(6);
    character.shard_away = weight(2);
    character.unmirrored = Chance(50) ? 0 : static_cast<int>(Pick(60));
    character.lose_msg2 = Chance(50) ? 0 : static_cast<int>(Pick(30));
    character.repeat = Chance(50) ? 0 : static_cast<int>(Pick(30));
    character.inline_too = Chance(25);
    character.grace_ms = Chance(50) ? 20 : 20 + static_cast<int>(Pick(150));
    character.few_pairs = Chance(20);
    if (Chance(40)) {  // edges that change all the time
      character.client += 8;
      character.follow += 10 + Pick(20);
    }
  }

  void DrawAnswers() {
    character.redis_later = Chance(70) ? 0 : 1 + static_cast<int>(Pick(15));
    character.redis_full = Chance(75) ? 0 : 1 + Pick(2);
    character.never = Chance(75) ? 0 : 1 + static_cast<int>(Pick(4));
    character.long_resets = Chance(50);
    character.forget_index = character.long_resets && Chance(50) ? 1 + Pick(12) : 0;
    character.news = 1 + static_cast<uint32_t>(Pick(3));
    character.lists = Chance(20) ? 0 : Chance(30) ? 256 + Pick(1'000) : 1 << 20;
    character.list_age_ms = Chance(20) ? 1 + static_cast<int>(Pick(100)) : 3'600'000;
    character.revoke_all = Chance(75) ? 0 : 1 + Pick(2);
  }

  void BeHealthy() {
    Character& of = character;
    of.healthy = true;
    of.fault = 0;
    of.redis_later = of.never = 0;
    of.unmirrored = of.lose_msg2 = 0;
    of.mirror_lag = 1;
    of.few_pairs = false;
    of.lags = Chance(50);
    if (!of.lags) of.slow = 0;
    of.grace_ms = of.lags ? 20 : kHealthyGraceMs;
  }
};

}  // namespace fanline::sim
