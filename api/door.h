// Keeps the pages of other sites from changing anything through a user's browser. The API asks
// nobody who they are, so a browser that reaches it, directly or through a gateway that lets its
// user in, is all that such a page needs. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/operations/problem.h"

namespace fanline::api {

// Why the request is not read; nothing: it may be. GET and HEAD change nothing and pass.
// Any other request is refused when it names an origin (a browser sends it for a page) that
// `allowed` does not list, and a POST also when it is not application/json: a page may send such
// a one without asking first.
std::optional<Problem> RefusedAtTheDoor(const Request& request,
                                        const std::vector<std::string>& allowed);

// "https://app.example:8443": as browsers write an origin. "null", which they write for pages that
// tell nobody theirs, is none.
bool IsOrigin(const std::string& text);

}  // namespace fanline::api
