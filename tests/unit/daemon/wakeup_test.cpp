#include "daemon/wakeup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "daemon/inbox.h"

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;

TEST(Wakeup, KeepsANotificationForTheNextWaitAndCountsSeveralAsOne) {
  const Wakeup wakeup;
  wakeup.Notify();
  wakeup.Notify();
  EXPECT_TRUE(wakeup.Wait(1h));
  EXPECT_FALSE(wakeup.Wait(0us));
}

TEST(Wakeup, ReturnsFalseOnceTheTimeIsUp) {
  const Wakeup wakeup;
  EXPECT_FALSE(wakeup.Wait(1us));
  EXPECT_FALSE(wakeup.Wait(-1h));  // a timer that is overdue
}

TEST(Wakeup, IsWokenByWhoeverWritesAOneToItsDescriptor) {
  const Wakeup wakeup;
  const uint64_t one = 1;
  ASSERT_EQ(write(wakeup.fd(), &one, sizeof one), 8);
  EXPECT_TRUE(wakeup.Wait(1h));
}

TEST(Inbox, HandsOverEverythingInOrderOnce) {
  const Wakeup wakeup;
  Inbox<int> inbox(wakeup);
  inbox.Push(1);
  inbox.Push(2);
  EXPECT_EQ(inbox.Drain(), (std::vector{1, 2}));
  EXPECT_EQ(inbox.Drain(), std::vector<int>{});
}

TEST(Inbox, WakesItsReaderForTheFirstItemAfterADrain) {
  const Wakeup wakeup;
  Inbox<int> inbox(wakeup);
  inbox.Push(1);
  EXPECT_TRUE(wakeup.Wait(1h));
  EXPECT_EQ(inbox.Drain().size(), 1u);
  EXPECT_FALSE(wakeup.Wait(0us));
  inbox.Push(2);
  EXPECT_TRUE(wakeup.Wait(1h));
}

TEST(Inbox, LosesNothingAndStrandsNoReaderUnderSeveralWriters) {
  const Wakeup wakeup;
  Inbox<int> inbox(wakeup);
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&inbox] {
      for (int i = 0; i < 1000; ++i) inbox.Push(i);
    });
  }
  size_t received = 0;
  while (received < 4000) {
    ASSERT_TRUE(wakeup.Wait(1min));
    received += inbox.Drain().size();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(received, 4000u);
}

}  // namespace
}  // namespace fanline::daemon
