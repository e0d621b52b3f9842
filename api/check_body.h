// The body of a batched check, {"ids": [...], "sides": "both"}.
#pragma once

#include <optional>

#include "api/requests.h"

namespace fanline::api {

// Fills `call` but for its user. What is wrong with one id is said beside that id; what is wrong
// with the body as a whole is the answer.
std::optional<Problem> ReadCheckBody(const std::string& body, CheckCall* call);

}  // namespace fanline::api
