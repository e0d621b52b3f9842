#include "tests/sim/fleet.h"

#include "tests/sim/schedule.h"

namespace fanline::sim {
namespace {

constexpr int kPhases = 4;  // each ends at rest, and is checked

}  // namespace

struct Fleet::World : Schedule {
  using Schedule::Schedule;
};

Fleet::Fleet(FleetOptions options) : world_(std::make_unique<World>(options)) {}
Fleet::~Fleet() = default;
const Fleet::Counts& Fleet::counts() const { return world_->counts; }
const Character& Fleet::character() const { return world_->character; }

std::string Fleet::Run() {
  world_->Start();
  for (int phase = 0; phase < kPhases; ++phase) {
    world_->Play();
    if (!world_->ComeToRest()) return "the fleet did not come to rest";
    if (auto wrong = world_->Check(); !wrong.empty()) return wrong;
    if (!world_->PostOnceMore()) return "the fleet did not take another post";
    if (auto wrong = world_->Check(); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace fanline::sim
