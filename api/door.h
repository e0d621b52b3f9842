// Keeps the pages of other sites from changing anything through a user's browser. The API does not
// authenticate, so such a page needs only a browser that reaches the API, directly or through a
// gateway that admits its user. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/operations/problem.h"

namespace fanline::api {

// Why the request is refused; nothing: it passes. GET and HEAD change nothing and pass. Any other
// request is refused if it names an origin (a browser does so for a page) that `allowed` does not
// list. A POST is also refused unless it is application/json, since a page may send any other
// without a preflight request.
std::optional<Problem> RefusedAtTheDoor(const Request& request,
                                        const std::vector<std::string>& allowed);

// Whether the text is an origin as browsers write it: "https://app.example:8443". "null", which
// they send for pages that hide their origin, is not one.
bool IsOrigin(const std::string& text);

}  // namespace fanline::api
