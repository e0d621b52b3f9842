"""How soon deliveries go on after a loss, beside the time that the server, or the consumer group,
takes by itself. Posts are published all the time; a range has gone on when a post that was published
after the loss is in a timeline of it.

These rows have a stack of their own: a Redis Cluster of three masters with a replica each.
"""

import itertools
import threading
import time
import zlib

from confluent_kafka import Producer

from bench.bare_group import SESSION, BareGroup
from bench.measure import row
from bench.when import When
from demo.workload import Event
from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs.feedctl import Feedctl
from stack.programs.fleet import FEED, PARTITIONS, Fleet
from stack.programs.timelines import post_and_author
from stack.programs.visits import make_live, visited
from stack.waiting import wait_until
from stack.wire.redis import RedisError

_BUCKETS = 1024
_AUTHORS = range(1, 21)
_PUBLISH_EVERY = 0.01
_LOOK_EVERY = 0.005
_PATIENCE = 120
_SETTLED_AFTER = 31  # seconds: a pusher that is killed sooner after a kill works hint by hint
_OUR_SESSION = ["--kafka-properties", ",".join(f"{name}={value}" for name, value in SESSION.items())]


def recovery(rounds, say):
    """Seconds until every range goes on: those of a master that failed over; those of a pusher that
    was killed, in half as many rounds."""
    ports = Ports()
    with LocalStack(cluster=True, ports=ports, say=say) as stack, Scene(stack, ports) as scene:
        failovers = [_failover(scene, say) for _ in range(rounds)]
        yield row("recovery_failover", [mine for mine, _ in failovers], "s until all ranges go on",
                  "the replica takes writes", [server for _, server in failovers])
        with BareGroup(stack, "bench-bare-group", PARTITIONS) as group:
            kills = []
            for number in range(max(1, rounds // 2)):
                if number > 0:
                    time.sleep(_SETTLED_AFTER)
                kills.append(_kill(scene, group, say))
        yield row("recovery_kill", [mine for mine, _ in kills], "s until all ranges go on",
                  "a bare consumer group goes on", [bare for _, bare in kills])


# ---- what happens -------------------------------------------------------------------------------

def _failover(scene, say):
    cluster = scene.stack.redis
    master = cluster.masters()[0]
    replica = cluster.replica_of(master)
    keys = scene.keys_at(master)
    with replica.client() as client:
        begin, before = time.monotonic(), scene.publisher.last
        master.kill()
        server = When(lambda: _writes(client, keys[0]), _PATIENCE, _LOOK_EVERY)
        ours = scene.until_delivered(dict.fromkeys(keys, replica), before) - begin
        theirs = server.at() - begin
    say(f"failover: {ours:.2f} s, the server {theirs:.2f} s")
    master.start()
    cluster.wait_whole()
    scene.fleet.wait_serving()
    return ours, theirs


def _kill(scene, group, say):
    victim = scene.fleet.pushers[-1]
    masters = {key: master for master in scene.stack.redis.masters()
               for key in scene.keys_at(master)}
    group.start_other()
    wait_until(lambda: group.shared, _PATIENCE, "the bare group to share its partitions")
    bare_begin = time.monotonic()
    group.kill_other()
    begin, before = time.monotonic(), scene.publisher.last
    victim.process.kill()
    bare = When(lambda: group.oldest() > bare_begin, _PATIENCE, _LOOK_EVERY)
    ours = scene.until_delivered(masters, before) - begin
    theirs = bare.at() - bare_begin
    say(f"kill -9: {ours:.2f} s, the bare group {theirs:.2f} s")
    victim.start()
    scene.fleet.wait_serving()
    return ours, theirs


def _writes(client, timeline):
    """A bare client's write to the slot of that timeline is taken."""
    tag = timeline.partition("{")[2].partition("}")[0]
    try:
        return client.command("SET", f"bench:{{{tag}}}", 1) == "OK"
    except RedisError:
        return False


# ---- the scene ----------------------------------------------------------------------------------

class Scene:
    """Pushers, a reader in each range who follows all authors, and posts all the time."""

    def __init__(self, stack, ports, pushers=2, pusher_args=_OUR_SESSION):
        self.stack = stack
        feedctl = Feedctl(stack)
        feedctl.run("init", "--ranges", PARTITIONS)
        feedctl.run("topics", "create")
        self._readers = [_reader_in(number) for number in range(PARTITIONS)]
        graph = stack.logs / "graph.txt"
        graph.write_text("".join(f"{reader} {author}\n"
                                 for reader in self._readers for author in _AUTHORS))
        feedctl.run("import", graph)
        self.fleet = Fleet(stack, ports, pushers=pushers, pusher_args=pusher_args)
        self.fleet.start().wait_serving()
        with visited(stack, ports) as api:
            make_live(api, self._readers)
        self.publisher = _Publisher(stack.env["FANLINE_KAFKA_BROKERS"])

    def __enter__(self):
        self.publisher.start()
        return self

    def __exit__(self, *_):
        self.publisher.stop()
        self.fleet.close()

    def keys_at(self, master):
        """The timelines, one a range, that this master serves."""
        return master.command("KEYS", "tl:*")

    def until_delivered(self, nodes, post):
        """The moment when every timeline held a post later than that one. `nodes`: timeline -> the
        node to look at."""
        left, clients = dict(nodes), {node: node.client() for node in set(nodes.values())}
        deadline = time.monotonic() + _PATIENCE
        while left:
            left = {key: node for key, node in left.items() if newest(clients[node], key) <= post}
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(left)} ranges do not go on")
            time.sleep(_LOOK_EVERY)
        moment = time.monotonic()
        for client in clients.values():
            client.close()
        return moment


def newest(client, key):
    """The newest post of a timeline; 0: it cannot be read here yet."""
    try:
        members = client.command("ZRANGE", key, 0, 3)
    except RedisError:
        return 0
    return max((post_and_author(member) or (0,))[0] for member in members) if members else 0


def _reader_in(range_number):
    for user in itertools.count(1_000):
        if zlib.crc32(str(user).encode()) % _BUCKETS // (_BUCKETS // PARTITIONS) == range_number:
            return user


class _Publisher(threading.Thread):
    """A post every 10 ms, of the authors in turn. Their ids are numbers that grow."""

    def __init__(self, brokers):
        super().__init__(daemon=True)
        self._producer = Producer({"bootstrap.servers": brokers, "linger.ms": 5, "log_level": 0})
        self._stopping = threading.Event()
        self.last = 0  # post published

    def run(self):
        while not self._stopping.wait(_PUBLISH_EVERY):
            post = self.last + 1
            event = Event("published", post, _AUTHORS[post % len(_AUTHORS)],
                          time.time_ns() // 1_000_000)
            self.last = post
            self._producer.produce(FEED, event.encode(), str(post),
                                   headers={"content-type": "application/json"})
            self._producer.poll(0)
        self._producer.flush(_PATIENCE)

    def stop(self):
        self._stopping.set()
        self.join()
