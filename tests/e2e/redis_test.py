"""Redis goes away and comes back: with what it had, with less, or with nothing. Nobody does anything
about it but its readers, who come again."""

import contextlib
import unittest
from concurrent.futures import ThreadPoolExecutor

from stack.programs.fleet import TASKS
from stack.wire.kafka import delete_records
from tests.e2e.installation import USERS, Installation, most_followed
from tests.e2e.meanwhile import long, publishing, reading

EVERYBODY = range(1, USERS + 1)
RANGES = 16


class RedisComesBack(Installation):
    stack_options = {"redis_args": ["--enable-debug-command", "local"]}

    def setUp(self):
        super().setUp()
        self.redis = self.stack.redis
        self.author = most_followed(self.ledger)[0]
        self.pusher, = self.fleet.pushers
        self.make_live(EVERYBODY)
        self.publish_all(list(EVERYBODY))
        self.settle()

    def restart_redis(self):
        self.redis.kill()
        self.redis.start()
        self.wait_served()

    def wait_served(self):
        self.wait_for(lambda: self.pusher.status("/readyz") == 200
                      and self.ranges_ready() == RANGES, "the pusher to serve again")

    def ranges_ready(self):
        return self.pusher.scrape().total("fanline_ranges_ready")

    @contextlib.contextmanager
    def a_loss(self, cause, ranges=RANGES):
        """While posts are published and read, the block takes something from Redis. So many ranges
        notice, for that cause; then everybody's timeline is exact."""
        before = self.redis_losses()
        with publishing(self, EVERYBODY), reading(self, EVERYBODY):
            yield
            self.wait_for(lambda: (self.redis_losses() - before)[cause] >= ranges,
                          "the loss to be noticed")
        self.wait_served()
        self.settle()
        self.assertEqual(+(self.redis_losses() - before), {cause: ranges})
        self.assert_all_come_back()

    def assert_all_come_back(self):
        self.make_live(EVERYBODY)
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assert_exact(live=EVERYBODY)
        self.assertEqual(len(self.redis.command("KEYS", "installation:*")), 1)

    def wait_replayed(self, before):
        """Waits until each range has noticed what it lost since `before`, and redone it."""
        def replayed():
            since = self.fleet.counters() - before
            again = since.total("fanline_hints_replayed_total")
            return 0 < again <= since.total("fanline_hints_done_total")

        def noticed():
            since = self.fleet.counters() - before
            return since.total("fanline_redis_losses_total", cause="behind") == RANGES

        self.wait_for(noticed, "each range to notice what it lost")
        self.wait_served()
        self.wait_for(replayed, "the replay of what was lost")
        self.settle()

    def test_killed_and_restarted_empty_it_is_claimed_again(self):
        with self.a_loss("missing"):
            self.redis.kill()
            self.redis.start()

    @long
    def test_killed_and_restarted_with_its_log_it_is_claimed_again(self):
        self.redis.appendonly = True
        self.addCleanup(setattr, self.redis, "appendonly", False)
        self.redis.command("CONFIG", "SET", "appendonly", "yes")
        self.wait_for(lambda: "aof_rewrite_in_progress:0" in self.redis.command("INFO")
                      and "aof_last_bgrewrite_status:ok" in self.redis.command("INFO"),
                      "the log to hold everything")
        before = self.redis_losses()
        with publishing(self, EVERYBODY), reading(self, EVERYBODY):
            self.redis.kill()
            self.redis.start()
            self.wait_served()
        self.settle()
        self.assertEqual((self.redis_losses() - before)["missing"], 0)
        self.assert_exact(live=EVERYBODY)

    @long
    def test_rolled_back_by_a_restart_to_before_its_owner_came_it_is_given_again_what_it_lost(self):
        self.redis.command("SAVE")
        self.publish_all(list(EVERYBODY))
        self.pusher.kill()
        self.pusher.start()
        self.wait_served()
        self.publish_all(list(EVERYBODY))
        self.settle()
        with self.a_loss("behind"):
            self.redis.kill()
            self.redis.start()
            self.forget_what_was_saved()

    def test_rolled_back_to_before_the_log_begins_it_is_filled_by_rebuilds(self):
        self.redis.command("SAVE")
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.wait_for(lambda: self.fleet.backlog() == 0, "the commits")
        delete_records(self.stack.kafka.port, TASKS, range(RANGES))
        before = self.redis_losses()
        self.restart_redis()
        self.forget_what_was_saved()
        # That the log begins later shows only when it is asked for what it has not.
        self.wait_for(lambda: self.redis_losses() - before
                      == {"behind": RANGES, "older_than_log": RANGES}, "the loss to be noticed")
        self.wait_served()
        self.assertEqual(self.timelines(), {})
        self.assert_all_come_back()

    def test_rolled_back_under_the_pushers_hands_it_is_given_again_what_it_lost(self):
        self.redis.command("SAVE")
        self.publish_all(list(EVERYBODY))
        self.settle()
        before = self.fleet.counters()
        self.redis.command("DEBUG", "RELOAD", "NOSAVE")  # its connections live on
        self.forget_what_was_saved()
        self.wait_replayed(before)
        self.assert_exact(live=EVERYBODY)

    def test_while_it_loads_its_snapshot_it_is_waited_for(self):
        self.redis.command("SAVE")
        self.redis.kill()
        self.publish_all(list(EVERYBODY))
        slowly = ["--key-load-delay", "8000", "--loading-process-events-interval-bytes", "1024"]
        with ThreadPoolExecutor() as pool:
            starting = pool.submit(self.redis.start_with, slowly)
            self.wait_for(lambda: "LOADING" in self.pusher.get("/readyz")[1],
                          "the pusher to hear that it loads", 30)
            starting.result()
        self.wait_served()
        self.forget_what_was_saved()
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def forget_what_was_saved(self):
        """So that other tests find an empty Redis after a restart."""
        (self.redis.data / "dump.rdb").unlink()
