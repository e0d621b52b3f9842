// A request and its answer, as the API calls them.
#pragma once

#include "http/message.h"

namespace fanline::api {

using http::Request;
using http::Response;

}  // namespace fanline::api
