// A daemon's /metrics over HTTP, read as Prometheus text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fanline/base/endpoint.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"

namespace fanline::feedctl {

struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

class Metrics {
 public:
  // What is no sample is passed over. Pure.
  static Metrics Parse(std::string_view text);

  // The samples of that name.
  [[nodiscard]] std::vector<const Sample*> Of(std::string_view name) const;
  // Their sum; 0 when there is none, or none is a number.
  [[nodiscard]] double Sum(std::string_view name) const;
  bool empty() const { return samples_.empty(); }

 private:
  std::vector<Sample> samples_;
};

// "host:port" or "http://host:port[/metrics]". Nothing: it is neither.
[[nodiscard]] std::optional<Endpoint> ParseTarget(std::string_view text);

// GET path. Blocking, at most `timeout` in all; an answer above 16 MB, or another status than 200,
// is kLater.
[[nodiscard]] Status HttpGet(const Endpoint& server, const std::string& path, Duration timeout,
                             std::string* body);

}  // namespace fanline::feedctl
