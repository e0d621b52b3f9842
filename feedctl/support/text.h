// How numbers and times read in feedctl's output. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fanline/model/delivery.h"
#include "fanline/model/original.h"

namespace fanline::feedctl {

// 1017674 -> "1,017,674"
std::string Grouped(uint64_t number);

// (1, "row") -> "1 row", (2000, "row") -> "2,000 rows"
std::string Counted(uint64_t number, const std::string& noun);

// ", delivery none"; empty for kAll.
std::string DeliveryText(Delivery delivery);

// ", shows post 77 of author 7"; empty if the post is no repost.
std::string ShownText(const Original& original);

// "5.1 s", "0.02 s"
std::string Seconds(double seconds);

// The text padded with blanks to `width`, with at least one blank.
std::string Left(std::string text, size_t width);

// The text for one line of a terminal: at most 2,000 characters, unprintable ones as '?'.
std::string OneLine(std::string_view text);

// The text in quotes for one line of a message: shortened, control characters as '?'.
std::string QuotedShort(std::string_view text);

}  // namespace fanline::feedctl
