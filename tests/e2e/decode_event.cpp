// What a dispatcher makes of a record: decode_event [CONTENT-TYPE] <VALUE
// Prints the event as JSON and ends with 0, or the reason it is refused and ends with 1.
#include <iostream>
#include <iterator>

#include "fanline/event_codec.h"

int main(int argc, char** argv) {
  const std::string value{std::istreambuf_iterator<char>(std::cin), {}};
  const auto decoded = fanline::DecodeEvent(value, argc > 1 ? argv[1] : "");
  if (const auto* refused = std::get_if<fanline::Rejection>(&decoded)) {
    std::cout << refused->reason << '\n';
    return 1;
  }
  std::cout << fanline::EncodeEventJson(std::get<fanline::FeedEvent>(decoded)) << '\n';
}
