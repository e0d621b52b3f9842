// Events of only a few schedules. They are drawn separately, so that other schedules keep their
// draws.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <variant>

#include "fanline/model/hint.h"

namespace fanline::sim {

struct Odd {
  uint64_t strike = 0;  // weight of all of them (odd_faults.h)

  // Hints that a pusher does not understand (OddHints).
  int damaged = 0;       // percent of hints whose bytes nobody can read
  int newer = 0;         // percent of hints of a version that only an upgraded pusher knows
  uint64_t upgrade = 0;  // weight: a pusher is drained and started again, upgraded or not

  uint64_t unusable = 0;      // weight: an event that nobody can use
  uint64_t letters_away = 0;  // weight: no dead letter is taken for a while

  uint64_t commit_back = 0;  // weight: a group's committed offset goes back to an older one

  // Primaries that change (primaries.h).
  uint64_t demote = 0;     // weight
  uint64_t lose_rows = 0;  // weight: a replica of posts catches up, or takes over as it is

  // Changes of edges.
  int late_commit = 0;        // percent of follows that commit behind others with higher ids
  uint64_t lock = 0;          // weight: somebody's transaction holds a row
  uint64_t hang = 0;          // weight: a mirror takes no turn for a while
  uint64_t lose_changes = 0;  // weight: a forward shard fails over and loses its last changes

  static Odd Of(uint64_t seed) {
    Odd odd;
    odd.DrawOddHints(seed);
    odd.DrawLetters(seed);
    odd.DrawPrimaries(seed);
    odd.DrawEdges(seed);
    std::mt19937_64 commits(seed ^ kCommits);
    if (commits() % 100 < 6) odd.commit_back = 1 + commits() % 4;
    std::mt19937_64 strikes(seed ^ kStrikes);
    if (odd.any()) odd.strike = 1 + strikes() % 4;
    return odd;
  }

 private:
  static constexpr uint64_t kStrikes = 0x5eed'0001, kOddHints = 0x5eed'0002, kLetters = 0x5eed'0003,
                            kCommits = 0x5eed'0004, kPrimaries = 0x5eed'0005, kEdges = 0x5eed'0006;

  bool any() const {
    return upgrade + unusable + commit_back + demote + lose_rows + lock + hang + lose_changes > 0;
  }

  void DrawOddHints(uint64_t seed) {
    std::mt19937_64 random(seed ^ kOddHints);
    const uint64_t kind = random() % 100;
    if (kind < 4) damaged = 1 + static_cast<int>(random() % 6);
    if (kind >= 2 && kind < 8) {
      newer = 1 + static_cast<int>(random() % 30);
      upgrade = 1 + random() % 4;
    }
  }

  // These may come beside hints that become letters.
  void DrawLetters(uint64_t seed) {
    std::mt19937_64 random(seed ^ kLetters);
    if (random() % 100 >= (damaged > 0 ? 60 : 6)) return;
    unusable = 1 + random() % 4;
    letters_away = 1 + random() % 4;
  }

  void DrawPrimaries(uint64_t seed) {
    std::mt19937_64 random(seed ^ kPrimaries);
    const uint64_t kind = random() % 100;
    if (kind < 5) demote = 1 + random() % 3;
    if (kind >= 3 && kind < 9) lose_rows = 1 + random() % 4;
  }

  void DrawEdges(uint64_t seed) {
    std::mt19937_64 random(seed ^ kEdges);
    const uint64_t kind = random() % 100;
    if (kind < 6) late_commit = 10 + static_cast<int>(random() % 40);
    if (kind >= 4 && kind < 10) lock = 1 + random() % 4;
    if (kind >= 8 && kind < 14) hang = 1 + random() % 4;
    if (kind >= 12 && kind < 18) lose_changes = 2 + random() % 4;
  }
};

// Hints that a pusher does not understand: bytes that are not a hint, and hints of a newer program.
// Records which bytes are damaged, to compare the dead letters with them.
struct OddHints {
  std::set<std::string> damaged;  // values in the logs
  std::set<std::string> letters;  // values that pushers set aside

  // All are different.
  const std::string& Damage() {
    return *damaged.insert("damaged hint " + std::to_string(damaged.size())).first;
  }

  // Field 1 comes first: the version is the second byte. No program has a version two higher.
  static std::string OfNewer(std::string value) {
    value[1] = static_cast<char>(value[1] + 2);
    return value;
  }
  static bool IsOfNewer(const std::string& value) {
    const auto decoded = DecodeHint(value);
    const auto* refused = std::get_if<Rejection>(&decoded);
    return refused != nullptr && refused->newer;
  }
  // How an upgraded program reads it.
  static std::string Understood(std::string value) {
    value[1] = static_cast<char>(value[1] - 2);
    return value;
  }

  // Checks that only damaged hints are set aside as undecodable; `all`: all of them.
  std::string Check(bool all) const {
    std::set<std::string> undecodable;
    for (const std::string& letter : letters) {
      if (IsOfNewer(letter)) return "a hint of a newer program became a dead letter";
      if (std::holds_alternative<Rejection>(DecodeHint(letter))) undecodable.insert(letter);
    }
    for (const std::string& letter : undecodable) {
      if (!damaged.contains(letter)) return "a hint became a dead letter that nobody had damaged";
    }
    if (all && undecodable.size() < damaged.size()) return "a damaged hint is no dead letter";
    return {};
  }
};

}  // namespace fanline::sim
