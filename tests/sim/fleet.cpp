#include "tests/sim/fleet.h"

#include "tests/sim/schedule.h"

namespace fanline::sim {
namespace {

constexpr int kPhases = 4;  // each ends at rest, and is checked

}  // namespace

Fleet::Fleet(FleetOptions options) : schedule_(std::make_unique<Schedule>(options)) {}
Fleet::~Fleet() = default;
const Fleet::Counts& Fleet::counts() const { return schedule_->world.counts; }
const Character& Fleet::character() const { return schedule_->world.character; }

std::string Fleet::Run() {
  schedule_->Start();
  for (int phase = 0; phase < kPhases; ++phase) {
    schedule_->Play();
    if (!schedule_->ComeToRest()) return "the fleet did not come to rest";
    if (auto wrong = schedule_->checks.Check(); !wrong.empty()) return wrong;
    if (!schedule_->PostOnceMore()) return "the fleet did not take another post";
    if (auto wrong = schedule_->checks.Check(); !wrong.empty()) return wrong;
    schedule_->world.said.Settle([this](const EdgeKey& edge) {
      const auto& rows = schedule_->world.mysql.relations.forward();
      const auto row = rows.find(edge);
      return row == rows.end() ? EdgeState{} : row->second;
    });
  }
  return {};
}

}  // namespace fanline::sim
