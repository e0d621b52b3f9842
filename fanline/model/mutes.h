// The authors whom a reader mutes: their posts are left out of what the reader is shown, whoever
// brings them. Nothing else changes: follows, counters and timelines are as without it
// (docs/decisions/0043-mutes.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fanline/model/ids.h"

namespace fanline {

inline constexpr size_t kMostMuted = 1'000;  // authors of a reader

struct Mutes {
  uint64_t version = 0;         // grows with each change; 0: there never was one
  std::vector<UserId> authors;  // ascending, each once
  bool damaged = false;         // the row's bytes are no list: nobody knows whom it named

  bool Has(UserId author) const {
    return std::binary_search(authors.begin(), authors.end(), author);
  }
  // What a live timeline and a rebuild say of them; 0: nobody is muted.
  uint64_t mark() const { return authors.empty() && !damaged ? 0 : version; }
  friend bool operator==(const Mutes&, const Mutes&) = default;
};

// The authors as the row has them: 8 bytes each, the highest first (big endian).
inline std::string PackAuthors(const std::vector<UserId>& authors) {
  std::string packed;
  packed.reserve(8 * authors.size());
  for (const UserId author : authors) {
    for (int shift = 56; shift >= 0; shift -= 8) {
      packed += static_cast<char>(Raw(author) >> static_cast<unsigned>(shift) & 255);
    }
  }
  return packed;
}

// Of the row. Bytes that PackAuthors would not write of sorted ids are damaged.
inline Mutes UnpackMutes(uint64_t version, std::string_view packed) {
  const Mutes damaged{version, {}, true};
  if (packed.size() % 8 != 0 || packed.size() > 8 * kMostMuted) return damaged;
  std::vector<UserId> authors;
  for (size_t at = 0; at < packed.size(); at += 8) {
    uint64_t raw = 0;
    for (const char byte : packed.substr(at, 8)) raw = raw << 8 | static_cast<unsigned char>(byte);
    const bool ascends = authors.empty() || Raw(authors.back()) < raw;
    if (!IsValidId(raw) || !ascends) return damaged;
    authors.push_back(UserId{raw});
  }
  return {version, std::move(authors)};
}

}  // namespace fanline
