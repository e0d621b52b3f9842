// feedctl ranges: the owner of each range in the pushers' consumer group, and what Redis holds of
// it.
#include <algorithm>
#include <cstdio>

#include "backends/kafka/admin.h"
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
  Ranges(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.Add("group", &group_, "the consumer group of the pushers");
    options::AddOptions(table, settings.kafka);
    options::AddOptions(table, settings.redis);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const auto installation = ReadInstalled(settings_);
    std::vector<redis::RangeState> states;
    Require(redis::ReadRangeStates(options::ToOptions(settings_.redis, {}, installation), &states),
            settings_);
    AskOwners(installation.tasks_topic);
    json_ ? PrintJson(states) : PrintText(states);
    return 0;
  }

 private:
  // When Kafka is away, only the owners are unknown.
  void AskOwners(const std::string& topic) {
    kafka::Admin admin(options::ToOptions(settings_.kafka, kClientId), kKafkaTimeout);
    const Status asked = admin.ReadOwners(group_, topic, &owners_);
    if (asked.done()) return;
    unknown_ = Explain(asked, settings_).what();
    std::fprintf(stderr, "feedctl: owners are not known: %s\n", unknown_.c_str());
  }

  std::string OwnerOf(Range range) const {
    if (!unknown_.empty()) return "?";
    const auto owner = owners_.find(range);
    return owner == owners_.end() ? "nobody" : owner->second.client + "@" + owner->second.host;
  }

  void PrintText(const std::vector<redis::RangeState>& states) const {
    size_t owner = sizeof "owner" + 1;
    size_t position = sizeof "position" + 1;
    for (const redis::RangeState& state : states) {
      owner = std::max(owner, OwnerOf(state.range).size() + 2);
      position = std::max(position, PositionOf(state).size() + 2);
    }
    std::printf("range  slot   master                 %sepoch  %sreaders\n",
                Left("owner", owner).c_str(), Left("position", position).c_str());
    for (const redis::RangeState& state : states) {
      std::string line = Left(std::to_string(state.range), 7) +
                         Left(std::to_string(state.slot), 7) +
                         Left(state.master.empty() ? "nobody" : state.master, 23) +
                         Left(OwnerOf(state.range), owner);
      if (!state.status.done()) {
        line += state.status.message;
      } else {
        line += Left(state.owner == 0 ? "none" : std::to_string(state.owner), 7) +
                Left(PositionOf(state), position) + Grouped(state.readers);
        if (!state.index_complete) line += " listed";
      }
      std::printf("%s\n", line.c_str());
    }
  }

  void PrintJson(const std::vector<redis::RangeState>& states) const {
    Json ranges = Json::array();
    for (const redis::RangeState& state : states) {
      Json line = {{"range", state.range}, {"slot", state.slot}, {"master", state.master}};
      const auto owner = owners_.find(state.range);
      line["owner"] = owner == owners_.end() ? Json() : Json(owner->second.client);
      line["owner_host"] = owner == owners_.end() ? Json() : Json(owner->second.host);
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
    PutJson({{"ranges", std::move(ranges)},
             {"owners_unknown", unknown_.empty() ? Json() : Json(unknown_)}});
  }

  std::string group_ = "fanline-pusher";
  kafka::GroupOwners owners_;
  std::string unknown_;  // why the owners are unknown; empty: they are known
};

}  // namespace

extern const Row kRanges = RowOf<Ranges>("ranges", "shows where each range is, and how far");

}  // namespace fanline::feedctl
