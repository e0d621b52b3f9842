"""Readers while everything breaks: timelines expire, and their readers' visits rebuild them."""

import contextlib
import http.client
import math
import time

from demo.clients import Client
from stack.programs.timelines import read_timelines
from stack.wire.redis import RedisClient, RedisError

VISITS = 60  # readers who come at a time
BROKEN_OFF = 0.15  # of the visits: whoever rebuilds is killed within LIFE_S
LIFE_S = 0.2
EXPIRING = 6  # timelines of each master, about once a second
_EVERY_S = 1.0
_ANSWER_WITHIN = 1


def expire_unfinished(redis):
    """Rebuilds that were broken off expire within a minute. This is that minute."""
    for reader, timeline in read_timelines(redis).items():
        if timeline.floor is None:
            for master in redis.masters():
                for key in master.command("KEYS", f"tl:*:{reader}"):
                    master.command("DEL", key)


class Readers(Client):
    """`api`: a process for them alone, since it is killed while it rebuilds."""

    def __init__(self, stack, api, users, draw):
        super().__init__(())
        self._stack, self._api, self._users, self._draw = stack, api, users, draw
        self.visits = self.refused = self.expired = 0

    def work(self):
        self._api.start()
        while self._wanted:
            begin = time.monotonic()
            self._expire()
            self._visit()
            time.sleep(max(0.05, begin + _EVERY_S - time.monotonic()))
        self._api.stop()

    def _expire(self):
        try:
            masters = self._stack.redis.masters()
        except OSError:
            return
        for master in masters:
            try:
                self._expire_on(master)
            except (OSError, RedisError):
                pass  # it is away, loading, or no master any more

    def _expire_on(self, master):
        with RedisClient(master.port, _ANSWER_WITHIN) as redis:
            for _ in range(EXPIRING):
                key = redis.command("RANDOMKEY")
                if key and key.startswith("tl:"):
                    self.expired += redis.command("PEXPIRE", key, self._draw.randint(1, 1500))

    def _visit(self):
        self._api.check_alive()
        broken_off = self._draw.random() < BROKEN_OFF
        until = time.monotonic() + self._draw.uniform(0, LIFE_S) if broken_off else math.inf
        self.visits += 1
        with contextlib.closing(self._api.client()) as client:
            for reader in self._draw.sample(self._users, VISITS):
                if time.monotonic() > until:
                    break
                self.refused += not self._is_answered(client, f"/v1/users/{reader}/timeline?limit=1")
        if broken_off:
            self._api.kill()
            self._api.start()

    @staticmethod
    def _is_answered(client, path):
        try:
            answer = client.get(path)
        except (OSError, http.client.HTTPException):
            client.close()
            return False
        if answer.status not in (200, 503):
            raise AssertionError(f"{path}: {answer.status} {answer.text}")
        return answer.status == 200
