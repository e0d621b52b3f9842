// What a dispatcher, or with "relation" a mirror, makes of a record:
//   decode_event CONTENT-TYPE [relation] <VALUE
// Prints the event as JSON and ends with 0, or the reason it is refused and ends with 1.
#include <iostream>
#include <iterator>

#include "fanline/wire/event_codec.h"
#include "fanline/wire/relation_event.h"
#include "tests/producers/encoders.h"

namespace {

int Tell(const fanline::Rejection* refused, const std::string& event) {
  std::cout << (refused != nullptr ? refused->reason : event) << '\n';
  return refused != nullptr ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string value{std::istreambuf_iterator<char>(std::cin), {}};
  const std::string content_type = argc > 1 ? argv[1] : "";
  if (argc > 2 && std::string(argv[2]) == "relation") {
    const auto decoded = fanline::DecodeRelationEvent(value, content_type);
    const auto* event = std::get_if<fanline::RelationEvent>(&decoded);
    return Tell(std::get_if<fanline::Rejection>(&decoded),
                event != nullptr ? fanline::testing::EncodeRelationEventJson(*event) : "");
  }
  const auto decoded = fanline::DecodeEvent(value, content_type);
  const auto* event = std::get_if<fanline::FeedEvent>(&decoded);
  return Tell(std::get_if<fanline::Rejection>(&decoded),
              event != nullptr ? fanline::EncodeEventJson(*event) : "");
}
