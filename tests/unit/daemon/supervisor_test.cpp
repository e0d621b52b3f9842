#include "daemon/run/supervisor.h"

#include <gmock/gmock.h>

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// SupervisorWorld: a supervisor that hears what it is told, unless it is deaf.
struct SupervisorWorld {
  explicit SupervisorWorld(std::optional<Duration> watchdog = std::nullopt)
      : supervisor(
            [this](const std::string& message) {
              if (!deaf) heard.push_back(message);
              return !deaf;
            },
            watchdog, health) {
    health.SetReady("loop", true);
  }

  // What it hears of one turn.
  std::vector<std::string> Turn(Time now) {
    heard.clear();
    supervisor.Turned(now);
    return heard;
  }

  Health health;
  bool deaf = false;
  std::vector<std::string> heard;
  Supervisor supervisor;
  const Time begin{1h};
};

TEST(Supervisor, HearsAtTheFirstTurnThatTheDaemonIsReadyAndNothingAfterwards) {
  SupervisorWorld w;
  EXPECT_THAT(w.Turn(w.begin), ElementsAre("READY=1\nSTATUS=ready\n"));
  EXPECT_THAT(w.Turn(w.begin + 1h), IsEmpty());
}

TEST(Supervisor, HearsWhatIsWaitedForBeforeTheLoopTurnsButNotThatItIsReady) {
  SupervisorWorld w(2s);
  w.health.SetReady("installation", false, "run feedctl init");
  w.supervisor.Waits();
  w.supervisor.Waits();
  EXPECT_THAT(w.heard, ElementsAre("STATUS=not ready: installation: run feedctl init\n"));
}

TEST(Supervisor, HearsThatTheLoopTurnsTwiceInItsTimeAtLeast) {
  SupervisorWorld w(2s);
  EXPECT_EQ(w.supervisor.every(), 500ms);
  EXPECT_THAT(w.Turn(w.begin), ElementsAre(HasSubstr("WATCHDOG=1\n")));
  EXPECT_THAT(w.Turn(w.begin + 499ms), IsEmpty());  // a busy loop turns a thousand times a second
  EXPECT_THAT(w.Turn(w.begin + 500ms), ElementsAre("WATCHDOG=1\n"));
  EXPECT_THAT(w.Turn(w.begin + 999ms), IsEmpty());
  EXPECT_THAT(w.Turn(w.begin + 1'000ms), ElementsAre("WATCHDOG=1\n"));
}

TEST(Supervisor, IsLookedAfterOnceASecondHoweverLongItWouldWait) {
  EXPECT_EQ(SupervisorWorld(1h).supervisor.every(), 1s);
  EXPECT_EQ(SupervisorWorld().supervisor.every(), 1s);
}

TEST(Supervisor, HearsThatAServiceIsAwayWhileTheLoopTurnsOn) {
  SupervisorWorld w(2s);
  w.Turn(w.begin);
  w.health.SetReady("mysql_0", false, "not reachable");
  EXPECT_THAT(w.Turn(w.begin + 1s),
              ElementsAre("STATUS=not ready: mysql_0: not reachable\nWATCHDOG=1\n"));
  w.health.SetReady("mysql_0", true);
  EXPECT_THAT(w.Turn(w.begin + 2s), ElementsAre("STATUS=ready\nWATCHDOG=1\n"));
}

TEST(Supervisor, HearsAgainWhatItDidNotTake) {
  SupervisorWorld w;
  w.deaf = true;
  EXPECT_THAT(w.Turn(w.begin), IsEmpty());
  w.deaf = false;
  EXPECT_THAT(w.Turn(w.begin + 1s), ElementsAre("READY=1\nSTATUS=ready\n"));
}

TEST(Supervisor, HearsOfTheStopAtOnceAndHowLongItMayTake) {
  SupervisorWorld w;
  w.Turn(w.begin);
  w.supervisor.Stops(25s);
  EXPECT_THAT(w.Turn(w.begin), ElementsAre("STOPPING=1\nEXTEND_TIMEOUT_USEC=25000000\n"));
  EXPECT_THAT(w.Turn(w.begin + 1s), IsEmpty());
}

TEST(OneLine, HasNoControlCharacters) { EXPECT_EQ(OneLine("a\nb\tc\x7F"), "a b c "); }

TEST(OneLine, IsCutBetweenCharacters) {
  EXPECT_EQ(OneLine(std::string(1'000, 'x')).size(), 1'000u);
  EXPECT_EQ(OneLine(std::string(1'001, 'x')).size(), 1'000u);
  EXPECT_EQ(OneLine(std::string(999, 'x') + "\xC3\xA9"), std::string(999, 'x'));
  EXPECT_EQ(OneLine(std::string(998, 'x') + "\xC3\xA9y"), std::string(998, 'x') + "\xC3\xA9");
}

}  // namespace
}  // namespace fanline::daemon
