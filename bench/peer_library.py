"""Stream-Framework itself, as bench/peer_rows.py runs it in an environment of its own. The first argument
is what to do, the second is JSON: fill makes the feeds of all live readers; run fans posts out by a
process a core, and prints {"deliveries": n, "seconds": s}. Tasks run where they are made: Celery is
there, a queue is not."""

import importlib.util
import json
import multiprocessing
import os
import random
import re
import sys
import time
from datetime import datetime, timedelta
from types import SimpleNamespace

import stream_framework
from celery import Celery
from stream_framework import settings


def with_another_name():
    """The last release of upstream has a parameter `async`, which is a keyword since Python 3.7."""
    spec = importlib.util.find_spec("stream_framework.feed_managers.base")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    text = re.sub(r"\basync\b", "async_", spec.loader.get_source(spec.name))
    exec(compile(text, spec.origin, "exec"), vars(module))


Celery("bench", set_as_current=True).conf.update(task_always_eager=True, task_serializer="pickle",
                                                 accept_content=["pickle"])
host, _, port = os.environ["FANLINE_REDIS"].partition(":")
settings.STREAM_REDIS_CONFIG["default"].update(host=host, port=int(port))
if stream_framework.__version__ == "1.4.0":
    with_another_name()

from stream_framework.activity import Activity  # noqa: E402
from stream_framework.feed_managers.base import FanoutPriority, Manager  # noqa: E402
from stream_framework.feeds.redis import RedisFeed  # noqa: E402
from stream_framework.storage.redis.connection import get_redis_connection  # noqa: E402
from stream_framework.verbs.base import Add  # noqa: E402


class Timeline(RedisFeed):
    key_format = "ps:%(user_id)s"
    max_length = 450


class OwnPosts(RedisFeed):
    key_format = "po:%(user_id)s"
    max_length = 10**6


class Fanout(Manager):
    feed_classes = {"normal": Timeline}
    user_feed_class = OwnPosts
    followers = ()

    def get_user_follower_ids(self, user_id):
        return {FanoutPriority.HIGH: self.followers}


def post(number, at):
    return Activity(10_000_000 + number, Add, number, time=at)


def fill():
    newest = datetime.utcfromtimestamp(told.newest / 1000)
    Timeline(0).add_many([post(i, newest - timedelta(minutes=i + 1)) for i in range(Timeline.max_length)])
    copies = get_redis_connection().pipeline(transaction=False)
    for reader in range(1, told.live):
        copies.execute_command("COPY", "ps:0", f"ps:{reader}", "REPLACE")
    copies.execute()
    return {}


def fan_out(posts):
    """The share of one process: when it began, when it ended, deliveries."""
    draw = random.Random(f"{told.seed} {posts}")
    work = [(number, draw.sample(range(told.readers), told.per_post)) for number in posts]
    newest, manager = datetime.utcfromtimestamp(told.newest / 1000), Fanout()
    get_redis_connection().ping()
    ready.wait(60)
    begin = time.monotonic()
    for number, Fanout.followers in work:
        activity = post(number, newest + timedelta(milliseconds=number))
        manager.add_user_activity(activity.actor_id, activity)
    end = time.monotonic()
    for reader in Fanout.followers:
        Timeline(reader).index_of(activity.serialization_id)  # raises where it is not
    return begin, end, sum(reader < told.live for _, followers in work for reader in followers)


def run():
    with fork.Pool(processes) as pool:
        shares = [range(first, told.posts, processes) for first in range(processes)]
        begins, ends, deliveries = zip(*pool.map(fan_out, shares, chunksize=1))
    return {"deliveries": sum(deliveries), "seconds": max(ends) - min(begins)}


told = SimpleNamespace(**json.loads(sys.argv[2]))
processes, fork = os.cpu_count(), multiprocessing.get_context("fork")
ready = fork.Barrier(processes)
print(json.dumps({"fill": fill, "run": run}[sys.argv[1]]()))
