"""Readers while everything breaks: timelines expire, and their readers' visits rebuild them."""

import signal
import time

from demo.clients import Client
from stack.programs.feedctl import FeedctlFailed
from stack.programs.timelines import read_timelines
from stack.wire.redis import RedisClient, RedisError

VISITS = 60  # readers who come at a time
BROKEN_OFF = 0.15  # of the visits: whoever rebuilds is killed within LIFE_S
LIFE_S = 0.2
EXPIRING = 6  # timelines of each master, about once a second
_EVERY_S = 1.0
_ANSWER_WITHIN = 1
_AWAY, _UNFINISHED = 69, 75  # what feedctl may say while services are away


def expire_unfinished(redis):
    """Rebuilds that were broken off expire within a minute. This is that minute."""
    for reader, timeline in read_timelines(redis).items():
        if timeline.floor is None:
            for master in redis.masters():
                for key in master.command("KEYS", f"tl:*:{reader}"):
                    master.command("DEL", key)


class Readers(Client):
    def __init__(self, stack, feedctl, users, draw):
        super().__init__(())
        self._stack, self._feedctl, self._users, self._draw = stack, feedctl, users, draw
        self.visits = self.refused = self.expired = 0

    def work(self):
        while self._wanted:
            begin = time.monotonic()
            self._expire()
            self._visit()
            time.sleep(max(0.05, begin + _EVERY_S - time.monotonic()))

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
        running = self._feedctl.start("activate", "--threads", 2,
                                      lines=self._draw.sample(self._users, VISITS))
        self.visits += 1
        if self._draw.random() < BROKEN_OFF:
            time.sleep(self._draw.uniform(0, LIFE_S))
            running.interrupt(signal.SIGKILL)
            return
        try:
            running.finish(90, (0, _AWAY, _UNFINISHED))
        except FeedctlFailed as error:
            raise AssertionError(str(error)) from error
        self.refused += running.exit_code != 0
