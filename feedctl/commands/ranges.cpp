// feedctl ranges: what Redis holds of each range, and where.
#include <cstdio>

#include "backends/redis/range_states.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

std::string PositionOf(const redis::RangeState& state) {
  if (!state.position) return "none";
  return std::to_string(state.position->generation) + ":" + std::to_string(state.position->offset);
}

class Ranges : public Command {
 public:
  Ranges(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table.Add("json", &json_, "print the ranges as one JSON object");
    options::AddOptions(table, settings.redis);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const auto installation = ReadInstalled(settings_);
    std::vector<redis::RangeState> states;
    Require(redis::ReadRangeStates(options::ToOptions(settings_.redis, {}, installation), &states),
            settings_);
    json_ ? PrintJson(states) : PrintText(states);
    return 0;
  }

 private:
  static void PrintText(const std::vector<redis::RangeState>& states) {
    std::printf("range  slot   master                 owner's epoch  position        readers\n");
    for (const redis::RangeState& state : states) {
      std::string line = Left(std::to_string(state.range), 7) +
                         Left(std::to_string(state.slot), 7) +
                         Left(state.master.empty() ? "nobody" : state.master, 23);
      if (!state.status.done()) {
        line += state.status.message;
      } else {
        line += Left(state.owner == 0 ? "none" : std::to_string(state.owner), 15) +
                Left(PositionOf(state), 16) + Grouped(state.readers);
        if (!state.index_complete) line += " listed";
      }
      std::printf("%s\n", line.c_str());
    }
  }

  static void PrintJson(const std::vector<redis::RangeState>& states) {
    Json ranges = Json::array();
    for (const redis::RangeState& state : states) {
      Json line = {{"range", state.range}, {"slot", state.slot}, {"master", state.master}};
      if (!state.status.done()) {
        line["away"] = state.status.message;
      } else {
        line["epoch"] = state.owner;
        line["generation"] = state.position ? Json(state.position->generation) : Json();
        line["offset"] = state.position ? Json(state.position->offset) : Json();
        line["readers"] = state.readers;
        line["readers_complete"] = state.index_complete;
      }
      ranges.push_back(std::move(line));
    }
    PutJson({{"ranges", std::move(ranges)}});
  }

  bool json_ = false;
};

}  // namespace

extern const Row kRanges = RowOf<Ranges>("ranges", "shows where each range is, and how far");

}  // namespace fanline::feedctl
