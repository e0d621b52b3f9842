"""What a consumer group still has to do, by Kafka itself: the log's ends and committed offsets.

Fanline commits an offset only after all effects of what is below it were acknowledged. So no
backlog means: all of it is done, not only taken.
"""

from confluent_kafka import Consumer, KafkaException, TopicPartition

_TIMEOUT = 10


class Backlog:
    """Not thread-safe."""

    def __init__(self, brokers, group, topic):
        self.group = group
        self._topic = topic
        # Never subscribes, so it only asks in the group's name and is no member.
        self._asker = Consumer({"bootstrap.servers": brokers, "group.id": group,
                                "enable.auto.commit": False, "log_level": 0})

    def records(self):
        """How many records are not committed. ConnectionError while the broker is away."""
        try:
            return self._count()
        except KafkaException as error:
            raise ConnectionError(f"{self._topic}: {error}") from error

    def committed(self):
        """The group's offset by partition; negative: nothing committed yet."""
        return {place.partition: place.offset for place in self._places()}

    def _places(self):
        partitions = self._asker.list_topics(self._topic, _TIMEOUT).topics[self._topic].partitions
        return self._asker.committed(
            [TopicPartition(self._topic, number) for number in partitions], _TIMEOUT)

    def _count(self):
        left = 0
        for place in self._places():
            begin, end = self._asker.get_watermark_offsets(place, _TIMEOUT)
            left += end - max(place.offset, begin)  # a negative offset: nothing committed yet
        return left

    def close(self):
        self._asker.close()


class PendingChanges:
    """The same of log1, on all shards: a mirror marks a change done after all that follows from it."""

    group = "fanline-mirror"

    def __init__(self, shards):
        self._shards = shards

    def records(self):
        """ConnectionError while a shard is away."""
        return sum(int(shard.query("SELECT COUNT(*) FROM log1 WHERE done = 0")[0][0])
                   for shard in self._shards)

    def close(self):
        pass
