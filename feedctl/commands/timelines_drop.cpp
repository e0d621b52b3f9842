// feedctl timelines drop: deletes all that Fanline keeps in Redis.
#include <cstdio>

#include "backends/redis/key_sweeper.h"
#include "fanline/base/mono_now.h"
#include "feedctl/commands/command.h"
#include "feedctl/events/pace.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/json.h"
#include "feedctl/support/progress.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

class TimelinesDrop : public Command {
 public:
  TimelinesDrop(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table
        .Add("rate", &rate_,
             "keys looked at per second, also those of others; 0 is as fast as can be")
        .Range(0, 10'000'000);
    options::AddOptions(table, settings.redis);
  }

  int Run(Interrupt& interrupt) override {
    interrupt.Advise("run it again to finish it");
    const Time begin = SystemNow().mono;
    // The number of ranges does not matter: all keys are looked at.
    redis::KeySweeper sweeper(options::ToOptions(settings_.redis, {}, {}));
    Sweep(sweeper, begin, interrupt);
    const double seconds = std::chrono::duration<double>(SystemNow().mono - begin).count();
    if (json_) {
      PutJson({{"keys", sweeper.deleted()}, {"seconds", seconds}});
    } else {
      std::printf("%s deleted in %s; readers rebuild their timelines\n",
                  Counted(sweeper.deleted(), "key").c_str(), Seconds(seconds).c_str());
    }
    return 0;
  }

 private:
  void Sweep(redis::KeySweeper& sweeper, Time begin, const Interrupt& interrupt) const {
    Progress progress("dropping", "keys", 0);
    const Pace pace(rate_, begin);
    while (!sweeper.done()) {
      Require(sweeper.Step(), settings_);
      progress.At(sweeper.deleted());
      // Ctrl-C ends the process.
      interrupt.Sleep(pace.WaitBefore(sweeper.looked_at(), SystemNow().mono));
    }
  }

  double rate_ = 20'000;
};

}  // namespace

extern const Row kTimelinesDrop =
    RowOf<TimelinesDrop>("timelines drop", "deletes all timelines; their readers rebuild them");

}  // namespace fanline::feedctl
