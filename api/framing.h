// Whether a request says in one way only where its body ends. Behind a gateway it must: when the
// two read its end differently, what the gateway takes for a body is a request here that nobody
// has looked at. The HTTP library does not ask, so this is asked before it reads on. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fanline::api {

enum class Framing {
  kNoBody,  // nothing follows the headers
  kBody,    // a length, or chunks
  kUnsafe,  // two lengths, both a length and chunks, what is no length, a body where there is none:
            // answer, and close the connection
};

// The values of these headers, as often as each was sent.
Framing FramingOf(std::string_view method, const std::vector<std::string>& content_lengths,
                  const std::vector<std::string>& transfer_encodings);

// Methods whose body the library reads.
bool MayHaveBody(std::string_view method);

}  // namespace fanline::api
