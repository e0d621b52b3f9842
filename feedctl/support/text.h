// How numbers and times read in feedctl's output. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fanline::feedctl {

// 1017674 -> "1,017,674"
std::string Grouped(uint64_t number);

// (1, "row") -> "1 row", (2000, "row") -> "2,000 rows"
std::string Counted(uint64_t number, const std::string& noun);

// "5.1 s", "0.02 s"
std::string Seconds(double seconds);

// A column: blanks behind the text up to `width`; one, if the text is as long or longer.
std::string Left(std::string text, size_t width);

// Lines of cells, one above the other: a column is two blanks wider than its widest cell. The last
// cell of a line is followed by nothing.
std::string Columns(const std::vector<std::vector<std::string>>& lines);

// The text, fit for one line of a terminal: control and other unprintable characters as '?', at
// most 2,000 of them.
std::string OneLine(std::string_view text);

// '"', the text, '"', fit for one line of a message: shortened, control characters as '?'.
std::string QuotedShort(std::string_view text);

}  // namespace fanline::feedctl
