"""The broker is killed and started again while posts flow."""

import threading
import unittest

from tests.e2e.installation import USERS, Installation

EVERYBODY = range(1, USERS + 1)


class BrokerComesBack(Installation):
    def test_every_acknowledged_event_arrives(self):
        self.make_live(EVERYBODY)
        self.publish_all(list(EVERYBODY) * 3)
        self.stack.kafka.kill()
        # An application goes on sending: its client waits for the broker.
        posts = threading.Thread(target=self.publish_all, args=[list(EVERYBODY)])
        posts.start()
        for daemon in self.fleet.daemons:
            self.assertEqual(daemon.status("/healthz"), 200, daemon.name)
        self.stack.kafka.start()
        posts.join()
        self.settle(120)
        self.assert_exact(live=EVERYBODY)


if __name__ == "__main__":
    unittest.main()
