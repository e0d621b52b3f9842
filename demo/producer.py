"""An application's producer: sends events, and knows which were acknowledged."""

import time

from confluent_kafka import Producer as KafkaProducer

_PATIENCE = 90  # seconds; a broker that starts again on a busy machine is back by then
_FLUSH_LIMIT = _PATIENCE + 10
_STEP = 0.02


class NotAcknowledged(Exception):
    pass


class Producer:
    def __init__(self, brokers, topic):
        self._topic = topic
        self._failed = []
        self._kafka = KafkaProducer({"bootstrap.servers": brokers, "enable.idempotence": True,
                                     "delivery.timeout.ms": _PATIENCE * 1000, "log_level": 2})

    def send(self, events):
        """As fast as the broker takes them. Returns when all are acknowledged."""
        for event in events:
            self._queue(event)
        self._flush()

    def send_paced(self, events, per_second, progress=lambda sent: None):
        """Evenly, in steps of 20 ms; a delay is made up for, never spread. Returns when all are
        acknowledged."""
        begin, sent = time.monotonic(), 0
        while sent < len(events):
            due = int((time.monotonic() - begin) * per_second) + 1
            for event in events[sent:due]:
                self._queue(event)
            sent = min(due, len(events))
            progress(sent)
            self._kafka.poll(0)
            time.sleep(_STEP)
        self._flush()

    def _queue(self, event):
        while True:
            try:
                return self._kafka.produce(
                    self._topic, key=str(event.post), value=event.encode(),
                    headers={"content-type": "application/json"}, on_delivery=self._on_delivery)
            except BufferError:
                self._kafka.poll(0.1)

    def _flush(self):
        left = self._kafka.flush(_FLUSH_LIMIT)
        if left or self._failed:
            why = self._failed[0] if self._failed else f"no answer within {_FLUSH_LIMIT} s"
            raise NotAcknowledged(f"{left + len(self._failed)} events were not acknowledged: {why}")

    def _on_delivery(self, error, _):
        if error:
            self._failed.append(error.str())
