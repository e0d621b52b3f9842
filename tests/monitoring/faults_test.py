"""Faults that take a minute to be felt, and the alerts that their runbooks are about: they fire, and end
when what the runbook says is done. Every `for` is two seconds here, thresholds are as they are."""

import time
import unittest

from confluent_kafka.admin import AdminClient, ConfigResource

from stack.programs.fleet import TASKS
from tests.e2e.relations import version
from tests.monitoring import runbook
from tests.monitoring.watched import Watched, sees_fire

MINUTE = 60


class Faults(Watched):
    def setUp(self):
        super().setUp()
        self.begin_load()
        self.addCleanup(self.load.end)
        self.began = time.monotonic()

    def wait_fires(self, alert, timeout=3 * MINUTE, **labels):
        super().wait_fires(alert, timeout, **labels)
        print(f"{alert} {labels or ''} fires after {time.monotonic() - self.began:.0f} s", flush=True)

    def wait_silent(self, alert, timeout=3 * MINUTE, **labels):
        super().wait_silent(alert, timeout, **labels)
        print(f"{alert} {labels or ''} has ended after {time.monotonic() - self.began:.0f} s", flush=True)

    @sees_fire("FanlineDeliveryBudgetBurn", "FanlineDeliveryLag", "FanlineNotReady", "FanlineRangesWithoutOwner",
               "FanlineRetentionNearsLag", "FanlineStoreAway")
    def test_1_redis_hangs_while_posts_come(self):
        self.keep_hints_for(100)
        self.stack.redis.pause()
        self.wait_fires("FanlineStoreAway", resource="redis", severity="page")
        self.wait_fires("FanlineRangesWithoutOwner", severity="page")
        self.wait_fires("FanlineNotReady", condition="ranges", job="fanline-pusher")
        self.wait_fires("FanlineRetentionNearsLag", topic=TASKS)
        self.wait_fires("FanlineDeliveryLag", severity="page")
        self.keep_hints_for(7 * 86_400)
        self.stack.redis.resume()
        for alert in ("FanlineStoreAway", "FanlineRangesWithoutOwner", "FanlineNotReady",
                      "FanlineRetentionNearsLag", "FanlineDeliveryLag"):
            self.wait_silent(alert)
        self.wait_fires("FanlineDeliveryBudgetBurn", window="1h")
        self.assertFalse(self.fires("FanlineFollowsLate"))

    @sees_fire("FanlineFollowsLate", "FanlineStoreAway", "FanlineWorkParked")
    def test_2_a_shard_is_gone_for_a_minute(self):
        self.stack.mysql[1].kill()
        self.wait_fires("FanlineStoreAway", resource="mysql_1")
        told = runbook.type_command(self.stack, runbook.command_of("FanlineStoreAway", "feedctl doctor"), codes=(69,))
        self.assertIn("stores.md#fanlinestoreaway", told)
        self.assertIn(str(self.stack.mysql[1].port), told)
        self.wait_fires("FanlineWorkParked", job="fanline-dispatcher")
        self.wait_fires("FanlineFollowsLate", severity="page")
        self.stack.mysql[1].start()
        self.wait_silent("FanlineStoreAway")
        self.wait_silent("FanlineWorkParked")
        self.wait_silent("FanlineFollowsLate")

    @sees_fire("FanlineNobodyMirrors", "FanlinePairsStuck")
    def test_3_there_is_no_mirror_and_the_reconciler_is_paused(self):
        mirror, = self.fleet.mirrors
        mirror.kill()
        self.wait_fires("FanlineNobodyMirrors", severity="page")
        self.assertFalse(self.fires("FanlineNobodyDelivers"))
        self.feedctl.run("relations", "reconciler", "pause")
        self.log.written(*[(900_000 + n, 900_500 + n, version(), True) for n in range(5)])
        self.wait_fires("FanlinePairsStuck", severity="page")
        self.feedctl.run("relations", "reconciler", "run")
        mirror.start()
        self.wait_silent("FanlineNobodyMirrors")
        self.wait_silent("FanlinePairsStuck")

    @sees_fire("FanlineTimelinesMissPosts")
    def test_4_a_timeline_misses_a_post(self):
        self.assertFalse(self.fires("FanlineTimelinesMissPosts"))
        self.wait_for(lambda: len(self.posts_of(self.readers[0]) or []) > 3, "posts in a timeline")
        key, = [key for key in self.stack.redis.command("KEYS", "tl:*")
                if key.rsplit(":", 1)[1] == str(self.readers[0])]
        self.stack.redis.command("ZREMRANGEBYRANK", key, 1, 2)
        self.wait_fires("FanlineTimelinesMissPosts", severity="page")
        self.feedctl.json("audit", "--repair", "--json", codes=(0, 1))
        self.wait_silent("FanlineTimelinesMissPosts")

    @sees_fire("FanlineDown", "FanlineRedisLosses")
    def test_5_redis_is_emptied_and_a_pusher_ends(self):
        self.stack.redis.command("FLUSHALL")
        self.wait_fires("FanlineRedisLosses", cause="missing")
        pusher = self.fleet.pushers[0]
        pusher.kill()
        self.wait_fires("FanlineDown", job="fanline-pusher", instance=f"127.0.0.1:{pusher.port}")
        pusher.start()
        self.wait_silent("FanlineDown")
        self.wait_for(lambda: not self.fires("FanlineRangesWithoutOwner"), "every range to be owned")

    def keep_hints_for(self, seconds):
        """The topic's retention, as an operator sets it."""
        resource = ConfigResource(ConfigResource.Type.TOPIC, TASKS,
                                  set_config={"retention.ms": str(seconds * 1000)})
        admin = AdminClient({"bootstrap.servers": self.stack.kafka.address})
        for done in admin.alter_configs([resource]).values():
            done.result(MINUTE)
