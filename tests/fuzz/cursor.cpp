// Cursors of pages and of lists, a line each: what is one and what is not, its one spelling, and
// the one order of the places they name.
#include <algorithm>
#include <string>
#include <vector>

#include "fanline/base/check.h"
#include "fanline/model/relation.h"
#include "fanline/ports/cursor.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"
#include "timeline/page.h"

using namespace fanline;

namespace {

constexpr size_t kMostCursors = 8;

// As the manual of cursor.h says it, without the decoder's means.
bool IsNumber(std::string_view text, std::string_view most) {
  if (text.empty() || text.size() > most.size() || text.front() == '0') return false;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return false;
  }
  return text.size() < most.size() || text <= most;
}

bool IsCursor(std::string_view text) {
  const size_t dot = text.find('.');
  return dot != std::string_view::npos && IsNumber(text.substr(0, dot), "9007199254740991") &&
         IsNumber(text.substr(dot + 1), "18446744073709551614");
}

// Later times first, then higher ids: of the cursor's own spelling.
bool ComesBefore(const std::string& a, const std::string& b) {
  const auto time = [](const std::string& text) { return text.substr(0, text.find('.')); };
  const auto post = [](const std::string& text) { return text.substr(text.find('.') + 1); };
  const auto higher = [](const std::string& one, const std::string& other) {
    return one.size() != other.size() ? one.size() > other.size() : one > other;
  };
  return time(a) != time(b) ? higher(time(a), time(b)) : higher(post(a), post(b));
}

Item ItemAt(const Position& place) { return {place.post, place.created_at}; }

// Any place, read of eight bytes each, is written and read back; or is none, and not read.
void CheckPlace(std::string_view bytes) {
  if (bytes.size() < 16) return;
  const auto number = [&](size_t from) {
    uint64_t value = 0;
    for (size_t i = from; i < from + 8; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
    return value;
  };
  const Position place{static_cast<UnixMs>(number(0) >> 1), PostId{number(8)}};
  const bool valid =
      place.created_at > 0 && place.created_at <= kMaxCreatedAt && IsValidId(Raw(place.post));
  const auto read = ParseCursor(CursorText(place));
  FANLINE_CHECK(read.has_value() == valid, "every place can be written, and nothing else is read");
  if (read) FANLINE_CHECK(ItemAt(*read) == ItemAt(place), "a place is read back as it was written");
}

// The page behind a place is what comes behind it in the one order, whoever it is made for.
void CheckPages(std::vector<Item> items, const Position& place) {
  std::sort(items.begin(), items.end(), IsNewer);
  items.erase(std::unique(items.begin(), items.end()), items.end());
  timeline::Fold fold(timeline::Reposts::kEach);
  fold.Add(items);
  const auto first = fold.Take(1, false);
  FANLINE_CHECK(first.items.size() == 1 && (fold.Count(2) > 1) == (items.size() > 1),
                "a page tells whether there is more");
  FANLINE_CHECK(ItemAt(PlaceOf(first, 0)) == items[0], "it goes on behind what it shows");
  fold.CutAt(place);
  const auto newer = fold.Take(items.size(), true);
  for (const Item& item : items) {
    const bool shown = std::find(newer.items.begin(), newer.items.end(), item) != newer.items.end();
    FANLINE_CHECK(shown == IsNewer(item, ItemAt(place)), "new is what comes before the place");
  }
}

void CheckListCursor(std::string_view line) {
  const auto cursor = ParseListCursor(line);
  if (!cursor) return;
  const std::string text = CursorText(*cursor);
  FANLINE_CHECK(text == line && ParseListCursor(text) == cursor,
                "a list's cursor has one spelling");
  FANLINE_CHECK(!ParseCursor(line), "and is no cursor of a timeline");
}

}  // namespace

FUZZ_TARGET(cursor) {
  CheckPlace(bytes);
  std::vector<Position> places;
  while (!bytes.empty() && places.size() < kMostCursors) {
    const std::string_view line = fuzz::TakeLine(bytes);
    CheckListCursor(line);
    const auto place = ParseCursor(line);
    FANLINE_CHECK(place.has_value() == IsCursor(line), "a cursor is what the manual says it is");
    if (!place) continue;
    FANLINE_CHECK(CursorText(*place) == line, "a cursor has one spelling");
    places.push_back(*place);
  }
  std::vector<Item> items;
  for (const Position& a : places) {
    items.push_back(ItemAt(a));
    for (const Position& b : places) {
      FANLINE_CHECK(IsNewer(ItemAt(a), ItemAt(b)) == ComesBefore(CursorText(a), CursorText(b)),
                    "the order of places is that of times, then of ids");
    }
  }
  if (!places.empty()) CheckPages(items, places.back());
}
