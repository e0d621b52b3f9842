// The headers of a dead letter, "name: value" a line; the first line is the record's own time.
#include <charconv>

#include "fanline/base/check.h"
#include "fanline/wire/dead_letter.h"
#include "feedctl/support/text.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

using namespace fanline;

namespace {

// A time of a record: from 0 on, for an adapter reads "none" as 0.
UnixMs TimeOf(std::string_view text) {
  UnixMs time = 0;
  std::from_chars(text.data(), text.data() + text.size(), time);
  return std::max<UnixMs>(time, 0);
}

}  // namespace

FUZZ_TARGET(dead_letter) {
  Record record{.timestamp = TimeOf(fuzz::TakeLine(bytes))};
  while (!bytes.empty()) {
    std::string_view value = fuzz::TakeLine(bytes);
    const std::string_view name = value.substr(0, value.find(": "));
    value.remove_prefix(std::min(name.size() + 2, value.size()));
    record.headers.emplace_back(name, value);
    if (const auto place = ParseLogPlace(value)) {
      FANLINE_CHECK(!place->topic.empty() && place->partition >= 0 && place->offset >= 0,
                    "a place");
      FANLINE_CHECK(ParseLogPlace(ToString(*place)) == place, "the same when read again");
    }
    const std::string shown = feedctl::OneLine(value);
    FANLINE_CHECK(std::none_of(shown.begin(), shown.end(),
                               [](unsigned char c) { return c < ' ' || c == 0x7f; }),
                  "nothing that a terminal obeys");
  }
  const UnixMs first = FirstAppended(record);
  FANLINE_CHECK(first >= 0, "a time, or none");
  FANLINE_CHECK(record.timestamp == 0 || (first > 0 && first <= record.timestamp),
                "nothing makes a record younger");
}
