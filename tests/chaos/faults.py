"""What breaks: a method for each kind of a plan, and a thread for each lane.

A fault ends with what it broke being there again; it does not wait for Fanline.
"""

import random
import time

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka import Producer as KafkaProducer

from demo.clients import Client
from stack.programs.feedctl import FeedctlFailed
from tests.chaos.plan import ALL_LINKS
from tests.chaos.redis_faults import RedisFaults
from tests.chaos.rig import JOINING
from tests.chaos.row_faults import RowFaults

JOIN_EVERY_S = 2
DELAYS_S = [0.005, 0.05, 0.3]
REPEATED = 300  # records of a topic
_TIMEOUT = 20


class Lane(Client):
    """The faults of a lane, one after the other, at their time or when the one before is over."""

    def __init__(self, rig, begin, faults, strangers):
        super().__init__(faults)
        self._rig, self._begin = rig, begin
        self._doing = Doing(rig, strangers)

    def work(self):
        for fault in self.todo:
            time.sleep(max(0.0, self._begin + fault.at - time.monotonic()))
            if not self._wanted:
                return
            since = time.monotonic() - self._begin
            self._rig.say(f"{since:6.1f} s  {fault.kind} {fault.target}, {fault.seconds:g} s")
            try:
                self._doing.do(fault)
            except Exception as error:
                raise AssertionError(f"fault {fault.kind} {fault.target}: {error!r}") from error
            self.done += 1


class Doing(RedisFaults, RowFaults):
    def __init__(self, rig, strangers):
        self.rig, self.stack, self.strangers = rig, rig.stack, strangers

    def do(self, fault):
        getattr(self, fault.kind)(fault)

    # ---- daemons -------------------------------------------------------------------------------

    def kill(self, fault):
        kept = self.rig.kept[fault.target]
        self._away(kept, kept.kill, fault.seconds)

    def hang(self, fault):
        self._hangs(self.rig.kept[fault.target], fault.seconds)

    def leave(self, fault):
        kept = self.rig.kept[fault.target]
        self._away(kept, kept.stop, fault.seconds)

    kill_relations, hang_relations, leave_relations = kill, hang, leave

    def roll(self, fault):
        """All of a role, one after the other, as an upgrade does."""
        members = [kept for kept in self.rig.role(fault.target[:-1]) if JOINING not in kept.name]
        for kept in members:
            kept.stop()
            kept.start()
            time.sleep(fault.seconds / len(members))

    def rebalance(self, fault):
        """A member comes and goes; it leaves in order, or now and then is killed. Not more often:
        a range whose pushers die takes one hint at a time, which would be all that is tested."""
        kept, draw = self.rig.kept[f"{fault.target}-{JOINING}"], random.Random(fault.seed)
        end = time.monotonic() + fault.seconds
        while time.monotonic() < end:
            kept.start()
            time.sleep(JOIN_EVERY_S)
            draw.choice([kept.stop, kept.stop, kept.stop, kept.kill])()
            time.sleep(JOIN_EVERY_S)

    def mirror_mode(self, fault):
        """Another mode for a while."""
        for mode, seconds in ((fault.target, fault.seconds), ("async", 0)):
            try:
                self.rig.feedctl.run("relations", "mode", mode)
            except FeedctlFailed:
                pass  # the setting's shard is away
            time.sleep(seconds)

    # ---- the network ---------------------------------------------------------------------------

    def cut(self, fault):
        for link in self._links(fault):
            link.cut()
        self._heals(fault)

    def stall(self, fault):
        """What had been sent arrives afterwards, also of those who gave up meanwhile."""
        for link in self._links(fault):
            link.stall()
        self._heals(fault)

    def delay(self, fault):
        for link in self._links(fault):
            link.delay(random.Random(fault.seed).choice(DELAYS_S))
        self._heals(fault)

    def _links(self, fault):
        links = self.stack.links
        return links.values() if fault.target == ALL_LINKS else [links[fault.target]]

    def _heals(self, fault):
        time.sleep(fault.seconds)
        for link in self._links(fault):
            link.heal()

    # ---- broker and shards ---------------------------------------------------------------------

    def kill_broker(self, fault):
        self._away(self.stack.kafka, self.stack.kafka.kill, fault.seconds)

    def hang_broker(self, fault):
        self._hangs(self.stack.kafka, fault.seconds)

    def kill_shard(self, fault):
        self._away(self._shard(fault), self._shard(fault).kill, fault.seconds)

    def stop_shard(self, fault):
        self._away(self._shard(fault), self._shard(fault).stop, fault.seconds)

    def hang_shard(self, fault):
        self._hangs(self._shard(fault), fault.seconds)

    def _shard(self, fault):
        return next(shard for shard in self.stack.mysql if shard.name == fault.target)

    @staticmethod
    def _away(service, end, seconds):
        end()
        time.sleep(seconds)
        service.start()

    @staticmethod
    def _hangs(service, seconds):
        service.pause()
        time.sleep(seconds)
        service.resume()

    # ---- messages ------------------------------------------------------------------------------

    def repeat(self, fault):
        """Appends the newest records of a topic again, in another order, each where it was."""
        try:
            records = self._newest(fault.target)
            random.Random(fault.seed).shuffle(records)
            producer = KafkaProducer({"bootstrap.servers": self.rig.brokers, "log_level": 0})
            for record in records:
                producer.produce(fault.target, record.value(), record.key(), record.partition(),
                                 headers=record.headers())
            producer.flush(_TIMEOUT)
        except KafkaException:
            pass  # the broker is away

    def _newest(self, topic):
        reader = Consumer({"bootstrap.servers": self.rig.brokers, "group.id": "nobody",
                           "enable.auto.commit": False, "log_level": 0})
        try:
            partitions = reader.list_topics(topic, _TIMEOUT).topics[topic].partitions
            found = []
            for partition in partitions:
                place = TopicPartition(topic, partition)
                begin, end = reader.get_watermark_offsets(place, _TIMEOUT)
                place.offset = max(begin, end - REPEATED // len(partitions))
                reader.assign([place])
                while place.offset < end and (record := reader.poll(_TIMEOUT)):
                    if record.error():
                        break
                    found.append(record)
                    place.offset = record.offset() + 1
            return found
        finally:
            reader.close()
