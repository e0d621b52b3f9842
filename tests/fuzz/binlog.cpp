// A server's binary log. An input is events, one after the other: the type, the length of what
// follows in two bytes, and the event behind its header. A type of 255 stands for bytes that have
// no header, which the decoder gets as they are.
#include <algorithm>
#include <string>
#include <vector>

#include "backends/mysql/binlog/binlog_decoder.h"
#include "fanline/base/check.h"
#include "tests/fuzz/target.h"

using namespace fanline;

namespace {

// Takes the next event off the front.
std::string TakeEvent(std::string_view& rest) {
  const auto byte = [&rest](size_t at) {
    return at < rest.size() ? static_cast<unsigned char>(rest[at]) : 0u;
  };
  const size_t type = byte(0), length = byte(1) | byte(2) << 8;
  rest.remove_prefix(std::min<size_t>(3, rest.size()));
  const std::string_view body = rest.substr(0, length);
  rest.remove_prefix(body.size());
  if (type == 255) return std::string(body);
  std::string event(19, '\0');
  event[4] = static_cast<char>(type);
  for (size_t at = 0; at < 4; ++at) {
    event[9 + at] = static_cast<char>((event.size() + body.size()) >> (8 * at));
  }
  return event.append(body);
}

}  // namespace

FUZZ_TARGET(binlog) {
  mysql::BinlogDecoder decoder("fanline"), again("fanline");
  while (!bytes.empty()) {
    const std::string event = TakeEvent(bytes);
    std::vector<uint64_t> ids, same;
    const std::string wrong = decoder.Read(event, ids);
    FANLINE_CHECK(wrong.size() < 200, "a reason for a person");
    FANLINE_CHECK(ids.size() <= event.size() / 9, "each id has nine bytes of the event");
    FANLINE_CHECK(again.Read(event, same) == wrong && same == ids, "the same each time");
  }
}
