#include "feedctl/capacity/bench_report.h"

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace fanline::feedctl {
namespace {

using Row = nlohmann::json;

std::string BytesRow(Encoding encoding) {
  return encoding == Encoding::kCompact ? "timeline_bytes_compact" : "timeline_bytes_skiplist";
}

// Throws an nlohmann exception if the row lacks the number.
double Number(const Row& row, const char* name) { return row.at(name).get<double>(); }

Work WorkOf(const Row& row) {
  return {Number(row, "events_per_second"), Number(row, "followers"), Number(row, "live")};
}

struct Rows {
  std::vector<Row> costs;
  std::map<std::string, Row> others;  // by name
};

Rows Sorted(std::string_view report) {
  Rows rows;
  for (const Row& row : Row::parse(report)) {
    const auto name = row.at("name").get<std::string>();
    if (name.starts_with("event_cost_")) {
      rows.costs.push_back(row);
    } else {
      rows.others[name] = row;
    }
  }
  return rows;
}

void TakeCosts(const std::vector<Row>& rows, Constants& constants, std::string* problem) {
  std::map<std::string, std::vector<MeasuredWork>> by_process;
  for (const Row& row : rows) {
    const Work work = WorkOf(row);
    for (const auto& [process, us] : row.at("cpu_us_per_event").items()) {
      by_process[process].push_back({work, us.get<double>() * 1e-6 * work.events_per_s});
    }
  }
  for (const auto& [process, runs] : by_process) {
    const auto cost = FitCost(runs);
    if (!cost) {
      *problem = "its rows event_cost_* do not tell on what " + process + " spends its time";
      return;
    }
    constants.costs[process] = *cost;
  }
}

void TakeLags(const std::map<std::string, Row>& rows, Constants& constants) {
  for (const char* share : {"half", "quarter", "tenth"}) {
    const std::string name = std::string("latency_") + share + "_rate";
    const auto p50 = rows.find(name), p99 = rows.find(name + "_p99");
    if (p50 == rows.end() || p99 == rows.end()) continue;
    constants.lags.push_back(
        {WorkOf(p50->second),
         {Number(p50->second, "value") / 1e3, Number(p99->second, "value") / 1e3}});
  }
}

// The part of a machine's description that is the same in each run.
std::string HardwareOf(const Row& row) {
  const auto machine = row.at("machine").get<std::string>();
  return machine.substr(0, machine.find(','));
}

// Costs and lags are combined, so their rows must come from one machine and one number of ranges.
// Bytes are the same everywhere.
std::string DifferentOnes(const Rows& rows) {
  const Row& first = rows.costs.front();
  const auto differs = [&first](const Row& row) {
    return HardwareOf(row) != HardwareOf(first) || row.at("cores") != first.at("cores") ||
           row.at("ranges") != first.at("ranges");
  };
  for (const Row& row : rows.costs) {
    if (differs(row)) return row.at("name").get<std::string>();
  }
  for (const auto& [name, row] : rows.others) {
    if (name.starts_with("latency_") && differs(row)) return name;
  }
  return "";
}

}  // namespace

std::string HowToMeasure(Encoding encoding) {
  return "make bench, or bench/run.py --rows " + BytesRow(encoding) + ",event_cost,latency";
}

std::optional<Constants> ReadConstants(std::string_view report, Encoding encoding,
                                       std::string* problem) {
  problem->clear();
  Constants constants;
  try {
    const Rows rows = Sorted(report);
    const auto bytes = rows.others.find(BytesRow(encoding));
    std::string lacks = bytes == rows.others.end() ? BytesRow(encoding) : "";
    if (rows.costs.empty()) lacks += (lacks.empty() ? "" : ", ") + std::string("event_cost_*");
    if (!lacks.empty()) {
      *problem = "it lacks the rows " + lacks + "; type " + HowToMeasure(encoding);
      return std::nullopt;
    }
    constants.timeline_bytes = Number(bytes->second, "value");
    constants.timeline_items = Number(bytes->second, "items");
    if (const std::string other = DifferentOnes(rows); !other.empty()) {
      *problem = "its row " + other + " is of another machine or number of ranges than " +
                 rows.costs.front().at("name").get<std::string>() + "; type " +
                 HowToMeasure(encoding);
      return std::nullopt;
    }
    const Row& first = rows.costs.front();
    constants.machine = first.at("machine").get<std::string>();
    constants.cores = Number(first, "cores");
    constants.ranges = first.at("ranges").get<uint32_t>();
    TakeCosts(rows.costs, constants, problem);
    TakeLags(rows.others, constants);
  } catch (const nlohmann::json::exception& bad) {
    *problem = std::string("it is not a report of make bench, or an older one (") + bad.what() +
               "); type " + HowToMeasure(encoding);
  }
  const bool usable = constants.timeline_bytes > 0 && constants.timeline_items > 0 &&
                      constants.cores > 0 && constants.ranges > 0;
  if (problem->empty() && !usable) *problem = "one of its figures is not above 0";
  return problem->empty() ? std::optional(std::move(constants)) : std::nullopt;
}

}  // namespace fanline::feedctl
