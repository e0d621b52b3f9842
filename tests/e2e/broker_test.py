"""The broker is killed and started again while posts flow; and comes back with logs that went bad."""

import struct
import threading
import unittest

from demo.producer import Producer
from stack.programs.fleet import FEED, TASKS
from stack.programs.visits import visited
from tests.e2e.installation import USERS, Installation

EVERYBODY = range(1, USERS + 1)
FLIP = 0x55


def last_batch(log):
    """Where the last batch of records begins in a log's only segment."""
    place, last = 0, None
    while place < len(log):
        last = place
        place += 12 + struct.unpack_from(">i", log, place + 8)[0]
    return last


class BrokerComesBack(Installation):
    def test_every_acknowledged_event_arrives(self):
        self.make_live(EVERYBODY)
        api = self.enterContext(visited(self.stack, self.ports)).wait_ready()
        self.publish_all(list(EVERYBODY) * 3)
        self.stack.kafka.kill()
        # An application goes on sending: its client waits for the broker.
        posts = threading.Thread(target=self.publish_all, args=[list(EVERYBODY)])
        posts.start()
        for daemon in self.fleet.daemons:
            self.assertEqual(daemon.status("/healthz"), 200, daemon.name)
        self.wait_for(lambda: {daemon.status("/readyz") for daemon in self.fleet.daemons} == {503},
                      "every daemon to say that it is not ready")
        self.wait_for(lambda: f"kafka_{FEED}" in api.named(), "the API to name it")
        self.assertEqual(api.status("/readyz"), 200)  # pages and follows are served
        self.assertEqual(self.gauge(api, "fanline_reachable", resource=f"kafka_{FEED}"), 0)
        self.stack.kafka.start()
        posts.join()
        self.wait_for(api.has_all, "the API to have a broker again")
        self.settle(120)
        self.assert_exact(live=EVERYBODY)
        for daemon in self.fleet.daemons:
            daemon.wait_ready()

    def test_a_corrupt_log_stops_one_partition_until_it_is_restored(self):
        self.make_live(EVERYBODY)
        pusher = self.fleet.pushers[0]
        pusher.stop()
        hinted = self.ranges_hinted() + 16 * len(EVERYBODY)
        self.publish_all(EVERYBODY)
        self.wait_for(lambda: self.ranges_hinted() == hinted, "the hints")
        self.stack.kafka.stop()  # or starting it again would cut off what is corrupt
        log = self.segment(TASKS, 3)
        sound = log.read_bytes()
        log.write_bytes(sound[:-3] + bytes([sound[-3] ^ FLIP]) + sound[-2:])
        self.stack.kafka.start()

        pusher.start()

        self.wait_for(lambda: self.gauge(pusher, "fanline_partitions_parked") == 1,
                      "the partition to be parked")
        self.assertEqual(self.fleet.ranges_ready(), 16)
        self.wait_for(lambda: all(self.gauge(pusher, "fanline_lag_records", partition=str(other)) == 0
                                  for other in range(16) if other != 3), "the hints of the other partitions")
        self.assertGreater(self.gauge(pusher, "fanline_lag_records", partition="3"), 0)
        self.wait_for(lambda: self.gauge(pusher, "fanline_lag_seconds") > 1, "the lag to grow")
        self.assertEqual(pusher.status("/readyz"), 200)
        self.assertRegex(pusher.named()[f"kafka_{TASKS}"],
                         rf"^{TASKS}/3 at offset \d+: the log is corrupt here")

        self.stack.kafka.stop()
        log.write_bytes(sound)
        self.stack.kafka.start()

        pusher.wait_ready(90)
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def test_a_log_that_lost_its_tail_is_read_again_and_nothing_is_skipped(self):
        self.make_live(EVERYBODY)
        self.publish_all(EVERYBODY)
        self.settle()
        lost = self.counter("fanline_log_tails_lost_total")
        self.stack.kafka.kill()
        for log in [self.segment(TASKS, 3), self.segment(FEED, 0)]:
            whole = log.read_bytes()
            log.write_bytes(whole[:last_batch(whole)])
            # The broker makes them anew. One that names what was cut off lets it append nothing.
            for index in (*log.parent.glob("*.index"), *log.parent.glob("*.timeindex")):
                index.unlink()
        self.stack.kafka.start()

        # Under a dispatcher and a pusher that run; each says so once.
        self.wait_for(lambda: self.counter("fanline_log_tails_lost_total") == lost + 2,
                      "the losses to be noticed")
        # A client that knows what was lost refuses to go on.
        type(self).producer = Producer(self.stack.kafka.address, FEED)
        self.publish_all(EVERYBODY)
        self.settle()
        live = set(self.timelines())
        self.assertLess(len(live), len(EVERYBODY), "the timelines of that range are dropped")
        self.assert_exact(live=live)
        self.make_live(EVERYBODY)
        for daemon in self.fleet.daemons:
            daemon.stop()
            daemon.start().wait_ready()
        self.publish_all(EVERYBODY)
        self.settle()
        self.assert_exact(live=EVERYBODY)
        self.assertEqual(self.counter("fanline_log_tails_lost_total"), lost + 2)

    def segment(self, topic, partition):
        segments = list((self.stack.kafka.data / f"{topic}-{partition}").glob("*.log"))
        self.assertEqual(len(segments), 1)
        return segments[0]

    def gauge(self, daemon, name, **labels):
        try:
            return daemon.scrape().total(name, **labels)
        except OSError:
            return 0
