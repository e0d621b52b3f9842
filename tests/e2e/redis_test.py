"""Redis goes away and comes back: with what it had, with less, or with nothing."""

import unittest

from tests.e2e.installation import USERS, Installation, most_followed

EVERYBODY = range(1, USERS + 1)


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
        self.wait_for(lambda: self.pusher.status("/readyz") == 200 and self.ranges_ready() == 16,
                      "the pusher to serve again")

    def ranges_ready(self):
        return self.pusher.scrape().total("fanline_ranges_ready")

    def wait_replayed(self, before):
        """Waits until the pusher has redone all that it was asked to do since `before`."""
        def replayed():
            since = self.fleet.counters() - before
            again = since.total("fanline_hints_replayed_total")
            return 0 < again <= since.total("fanline_hints_done_total")

        self.wait_for(replayed, "the replay of what was lost")
        self.settle()

    def test_while_it_is_away_the_pusher_is_not_ready_and_yet_alive(self):
        self.redis.kill()
        self.wait_for(lambda: self.pusher.status("/readyz") == 503, "the pusher to notice")
        self.assertIn('"redis"', self.pusher.get("/readyz")[1])
        self.assertEqual(self.pusher.status("/healthz"), 200)
        dispatcher, = self.fleet.dispatchers
        self.assertEqual(dispatcher.status("/readyz"), 200)  # it needs no Redis
        self.publish(self.author)  # waits for it
        self.redis.start()
        self.wait_served()
        self.settle()

    def test_empty_after_a_restart_it_is_filled_by_rebuilds_alone(self):
        self.restart_redis()
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assertEqual(self.timelines(), {})
        self.make_live(EVERYBODY)
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def test_flushed_under_the_pushers_hands_it_is_claimed_again(self):
        self.redis.command("FLUSHALL")
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.make_live(EVERYBODY)
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def test_rolled_back_by_a_restart_it_is_given_again_what_it_lost(self):
        self.redis.command("SAVE")
        self.publish_all(list(EVERYBODY))
        self.delete(self.author, self.publish(self.author))
        self.settle()
        before = self.fleet.counters()
        self.restart_redis()
        self.forget_what_was_saved()
        self.wait_replayed(before)
        self.assert_exact(live=EVERYBODY)

    def test_rolled_back_under_the_pushers_hands_it_is_given_again_what_it_lost(self):
        self.redis.command("SAVE")
        self.publish_all(list(EVERYBODY))
        self.settle()
        before = self.fleet.counters()
        self.redis.command("DEBUG", "RELOAD", "NOSAVE")  # its connections live on
        self.forget_what_was_saved()
        self.wait_replayed(before)
        self.assert_exact(live=EVERYBODY)

    def test_hanging_for_a_while_it_loses_nothing(self):
        self.redis.pause()
        self.addCleanup(self.redis.resume)
        self.publish_all(list(EVERYBODY))
        self.wait_for(lambda: self.pusher.status("/readyz") == 503, "the pusher to notice")
        self.redis.resume()
        self.wait_served()
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def forget_what_was_saved(self):
        """So that other tests find an empty Redis after a restart."""
        (self.redis.data / "dump.rdb").unlink()


if __name__ == "__main__":
    unittest.main()
