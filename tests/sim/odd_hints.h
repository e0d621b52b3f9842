// Hints that a pusher does not understand: bytes that are not a hint, and hints of a newer program.
// Records which bytes are damaged, to compare the dead letters with them.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <variant>

#include "fanline/model/hint.h"

namespace fanline::sim {

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
