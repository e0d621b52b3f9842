// The API's routes: one row per operation. A test compares the rows with openapi.yaml.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/operations/call.h"

namespace fanline::api {

struct Route {
  std::string_view method;
  std::string_view path;  // "{...}" stands for one segment
  std::string_view name;  // operationId; a metric label
  Operation read;
};

std::span<const Route> Routes();

struct RouteMatch {
  const Route* route = nullptr;
  std::vector<std::string> segments;  // of the "{...}", in their order
};

// Treats HEAD as GET. The Problem is kNotFound, or kMethodNotAllowed with the allowed methods.
std::variant<RouteMatch, Problem> Match(std::string_view method, std::string_view path);

}  // namespace fanline::api
