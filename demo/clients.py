"""Applications at work in threads of their own: they change who follows whom, by the relation API
or by relation events, and publish. Each has edges of its own and sends an edge's changes in order.
"""

import http.client
import itertools
import json
import threading
import time

from confluent_kafka import Producer as KafkaProducer

from demo.producer import NotAcknowledged
from stack.programs.fleet import RELATION_EVENTS

_GIVE_UP_S = 60  # on one change
_AGAIN_S = 0.1
_STEP_S = 0.02
_FLUSH_S = 60


class Client(threading.Thread):
    """`finish()` waits for its end, and raises what went wrong in it."""

    def __init__(self, todo):
        super().__init__(daemon=True)
        self.todo = todo
        self.done = 0  # acknowledged or, of events, sent
        self._error = None
        self._wanted = True

    def run(self):
        try:
            self.work()
        except Exception as error:
            self._error = error

    def leave(self):
        """Ends it before it is done."""
        self._wanted = False

    def check(self):
        if self._error:
            raise self._error

    def finish(self):
        self.join()
        self.check()

    def paced(self, seconds):
        """Spreads its work evenly over so many seconds; a delay is made up for."""
        begin = time.monotonic()
        for number, item in enumerate(self.todo):
            early = begin + seconds * number / len(self.todo) - time.monotonic()
            if early > _STEP_S:
                time.sleep(early)
            if not self._wanted:
                return
            yield item


class HttpClient(Client):
    """One connection. Repeats each change until it is acknowledged: a shard may be away, and
    asking twice is safe."""

    def __init__(self, api, changes, seconds):
        super().__init__(changes)
        self._api, self._seconds = api, seconds
        self.refused = 0

    def work(self):
        client = self._api.client()
        try:
            for change in self.paced(self._seconds):
                self._make(client, change)
                self.done += 1
        finally:
            client.close()

    def _make(self, client, change):
        path = f"/v1/users/{change.reader}/following/{change.author}"
        give_up = time.monotonic() + _GIVE_UP_S
        while True:
            try:
                if change.delivery:
                    answer = client.ask("PATCH", path, {"delivery": change.delivery})
                else:
                    answer = client.ask("PUT" if change.live else "DELETE", path)
            except (OSError, http.client.HTTPException) as error:
                raise NotAcknowledged(f"{path}: {error!r}") from error
            if answer.status == 200:
                return
            if answer.status != 503 or time.monotonic() > give_up:
                raise NotAcknowledged(f"{answer.method} {path}: {answer.status} {answer.text}")
            self.refused += 1
            time.sleep(_AGAIN_S)


class Publisher(Client):
    """Posts: `send` takes a list of events and returns when they are acknowledged."""

    def __init__(self, send, sendings, seconds):
        super().__init__(sendings)
        self._send, self._seconds = send, seconds

    def work(self):
        for event, _ in self.paced(self._seconds):
            self._send([event])
            self.done += 1


class EventClient(Client):
    """A producer of relation events; the versions of its edges grow. Every `thrice`th event is sent
    two times more."""

    def __init__(self, brokers, changes, seconds, thrice):
        super().__init__(changes)
        self._seconds, self._thrice = seconds, thrice
        self._failed = []
        self._kafka = KafkaProducer({"bootstrap.servers": brokers, "enable.idempotence": True,
                                     "delivery.timeout.ms": 30_000, "log_level": 2})
        self.sent_again = 0

    def work(self):
        versions = itertools.count(1)
        for number, change in enumerate(self.paced(self._seconds)):
            event = encode(change, next(versions))
            self._send(change, event)
            if number % self._thrice == 0:
                self._send(change, event)
                self._send(change, event)
                self.sent_again += 2
            self.done += 1
        left = self._kafka.flush(_FLUSH_S)
        if left or self._failed:
            why = self._failed[0] if self._failed else f"no answer within {_FLUSH_S} s"
            raise NotAcknowledged(f"{left + len(self._failed)} relation events were not "
                                  f"acknowledged: {why}")

    def _send(self, change, event):
        self._kafka.poll(0)
        self._kafka.produce(RELATION_EVENTS, event, f"{change.reader}:{change.author}",
                            headers={"content-type": "application/json"},
                            on_delivery=self._on_delivery)

    def _on_delivery(self, error, _):
        if error:
            self._failed.append(error.str())


def encode(change, version):
    """The JSON of docs/producers.md."""
    return json.dumps({
        "schema_version": 1, "type": f"relation.{'follow' if change.live else 'unfollow'}",
        "src": str(change.reader), "dst": str(change.author), "version": str(version),
        **({"delivery": change.delivery} if change.delivery else {}),
    }, separators=(",", ":")).encode()
