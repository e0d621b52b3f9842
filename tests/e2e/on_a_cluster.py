"""An installation on a Redis Cluster, to be moved about."""

import time

from stack.services.redis_cluster import SLOTS
from tests.e2e.installation import USERS, Installation

EVERYBODY = range(1, USERS + 1)
RANGES = 16


def slot_of(a_range):
    return SLOTS // RANGES * a_range


class OnACluster(Installation):
    pushers = 2
    stack_options = {"cluster": True}

    def setUp(self):
        super().setUp()
        self.cluster = self.stack.redis
        self.cluster.start()  # what an earlier test left down
        self.wait_served()
        self.make_live(EVERYBODY)
        self.publish_all(list(EVERYBODY))
        self.settle()

    def wait_served(self):
        self.wait_for(lambda: self.fleet.ranges_ready() == RANGES, "every range to be owned")

    def ranges_of(self, master):
        return [number for number in range(RANGES)
                if self.cluster.owner(slot_of(number)) is master]

    def other_master(self, master):
        return next(other for other in self.cluster.masters() if other is not master)

    def takeovers(self):
        return self.counter("fanline_takeovers_total")

    def publish_for(self, seconds):
        """Posts of everybody again and again."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.publish_all(list(EVERYBODY))

    def fail_over(self, master, replica):
        """Kills the one, and publishes until the other has its ranges; how few ranges were owned
        meanwhile."""
        slot = slot_of(self.ranges_of(master)[0])
        master.kill()
        replica.resume()
        least = RANGES
        deadline = time.monotonic() + 60
        while self.cluster.owner_if_any(slot) is not replica:
            self.assertLess(time.monotonic(), deadline)
            self.publish_all(list(EVERYBODY))
            least = min(least, self.fleet.ranges_ready())
        self.wait_for(lambda: all(self.cluster.owner_if_any(slot_of(number))
                                  for number in range(RANGES)), "all slots to be served")
        return least
