#include "fanline/base/sha1.h"

#include <array>
#include <bit>

#include "fanline/base/check.h"

namespace fanline {
namespace {

constexpr size_t kBlock = 64;
constexpr size_t kMostText = kBlock - 1 - 8;  // a bit behind the text, and its length

// The block's sixteen words, and the 64 that follow from them.
std::array<uint32_t, 80> Schedule(std::string_view text) {
  std::array<uint32_t, 80> words{};
  const auto put = [&words](size_t at, uint32_t byte) {
    words[at / 4] |= byte << (24 - 8 * (at % 4));
  };
  for (size_t i = 0; i < text.size(); ++i) put(i, static_cast<unsigned char>(text[i]));
  put(text.size(), 0x80);
  words[15] = static_cast<uint32_t>(8 * text.size());
  for (size_t i = 16; i < words.size(); ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  return words;
}

}  // namespace

uint32_t FirstWordOfSha1(std::string_view text) {
  FANLINE_CHECK(text.size() <= kMostText, "a text of more than one block");
  const auto words = Schedule(text);
  constexpr uint32_t kFirst = 0x67452301;
  uint32_t a = kFirst, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
  for (size_t i = 0; i < words.size(); ++i) {
    uint32_t mixed = 0;
    if (i < 20) {
      mixed = ((b & c) | (~b & d)) + 0x5a827999;
    } else if (i < 40) {
      mixed = (b ^ c ^ d) + 0x6ed9eba1;
    } else if (i < 60) {
      mixed = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    } else {
      mixed = (b ^ c ^ d) + 0xca62c1d6;
    }
    const uint32_t next = std::rotl(a, 5) + mixed + e + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  return kFirst + a;
}

}  // namespace fanline
