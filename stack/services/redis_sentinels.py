"""Redis behind Sentinels: a master, a replica, and three Sentinels that make the replica the master
when the master fails.

    redis = stack.redis                  # of LocalStack(sentinels=True)
    master = redis.master()
    replica = redis.let_lag(master)
    master.kill()
    replica.resume()
    redis.wait_master(replica)           # the Sentinels agree
    master.start()
    redis.wait_whole()                   # and it follows

In a secure stack Sentinels and nodes speak TLS to each other, too, and the Sentinels name the doors
with TLS.
"""

import time
from concurrent.futures import ThreadPoolExecutor

from stack.services.redis import Redis, server, tls_args
from stack.services.service import Service
from stack.waiting import wait_until
from stack.wire.redis import RedisClient, RedisError

NAME = "timelines"  # what the Sentinels call the master
SENTINELS = 3
_QUORUM = 2
_DOWN_AFTER_MS = 1000
_ANSWER_WITHIN = 1  # seconds


class Sentinel(Service):
    """Its file is its memory: it writes down there what it learns."""

    def __init__(self, name, workspace, ports, env, certificates=None):
        super().__init__(name, workspace, ports, env)
        self._certificates = certificates
        self.ports_wanted = 2 if certificates else 1  # plain, TLS
        self._password = None

    @property
    def told_port(self):
        return self._taken[-1]

    @property
    def told_address(self):
        return f"127.0.0.1:{self.told_port}"

    def prepare(self):
        (self.data / "sentinel.conf").touch()

    def argv(self):
        tls = tls_args(self.told_port, self._certificates) if self._certificates else []
        return [server(), "sentinel.conf", "--sentinel", "--port", self.port, "--bind", "127.0.0.1",
                "--dir", self.data] + tls

    def answers(self):
        return "_mode:sentinel" in self.command("INFO", "server")  # redis_mode, of Valkey server_mode

    def watch(self, node):
        self.command("SENTINEL", "MONITOR", NAME, "127.0.0.1", node.peers_port, _QUORUM)
        self.command("SENTINEL", "SET", NAME, "down-after-milliseconds", _DOWN_AFTER_MS,
                     "failover-timeout", 5000)

    def demand_password(self, password):
        """Of everybody, the other Sentinels too. A restart keeps it."""
        self.command("ACL", "SETUSER", "default", f">{password}")
        self._password = password
        self.command("SENTINEL", "CONFIG", "SET", "sentinel-pass", password)

    def named(self):
        """The port of the master, as this Sentinel sees it; None when it does not answer."""
        try:
            return int(self.command("SENTINEL", "get-master-addr-by-name", NAME)[1])
        except (OSError, RedisError):
            return None

    def seen(self):
        fields = self.command("SENTINEL", "MASTER", NAME)
        return dict(zip(fields[::2], fields[1::2]))

    def command(self, *words):
        with RedisClient(self.port, _ANSWER_WITHIN) as client:
            if self._password:
                client.command("AUTH", self._password)
            return client.command(*words)


class WatchedRedis:
    also_told = {"FANLINE_REDIS_SENTINEL_MASTER": NAME}

    def __init__(self, name, workspace, ports, env, certificates=None, links=None, **options):
        assert links is None, "Sentinels name the nodes' own addresses"
        self.name = name
        self.ready_after = None
        self.nodes = [Redis(f"{name}{number}", workspace, ports, env, certificates=certificates,
                            **options) for number in (1, 2)]
        self.sentinels = [Sentinel(f"sentinel{number}", workspace, ports, env, certificates)
                          for number in range(1, SENTINELS + 1)]
        self._formed = False

    # ---- as any service ------------------------------------------------------------------------

    @property
    def address(self):
        """The Sentinels', plain."""
        return ",".join(sentinel.address for sentinel in self.sentinels)

    announced = address

    @property
    def tls_address(self):
        return ",".join(sentinel.told_address for sentinel in self.sentinels)

    @property
    def running(self):
        return all(part.running for part in self._parts)

    @property
    def failed(self):
        return any(part.failed for part in self._parts)

    def start(self):
        """Starts whatever does not run; returns when all follow one master."""
        begin = time.monotonic()
        self._all(lambda part: part.running or part.start())
        if not self._formed:
            master, replica = self.nodes
            replica.command("REPLICAOF", "127.0.0.1", master.peers_port)
            for sentinel in self.sentinels:
                sentinel.watch(master)
            self._formed = True
        self.wait_whole()
        self.ready_after = time.monotonic() - begin
        return self

    def stop(self, timeout=15):
        self._all(lambda part: part.stop(timeout))

    def kill(self):
        self._all(lambda part: part.kill())

    def abandon(self):
        self._all(lambda part: part.abandon())

    def tail(self, lines=60):
        return "\n".join(f"{part.name}:\n{part.tail(lines)}"
                         for part in self._parts if not part.running)

    # ---- who is what ---------------------------------------------------------------------------

    def master(self):
        """The node that the Sentinels agree on; None while they do not."""
        named = {sentinel.named() for sentinel in self.sentinels if sentinel.running} - {None}
        found = [node for node in self.nodes if {node.peers_port} == named]
        return found[0] if found else None

    def masters(self):
        return [wait_until(self.master, 60, f"{self.name} to have a master")]

    def command(self, *words):
        """A command at the master."""
        return self.masters()[0].command(*words)

    def wait_master(self, node, timeout=60):
        wait_until(lambda: self.master() is node and "role:master" in self._replication(node),
                   timeout, f"{node.name} to be the master")

    def wait_whole(self, timeout=60):
        """Until all Sentinels know each other and the replica, which follows."""
        wait_until(self._whole, timeout, f"{self.name} to be whole")

    def demand_password(self, password):
        """The Sentinels', from now on."""
        for sentinel in self.sentinels:
            sentinel.demand_password(password)

    # ---- faults --------------------------------------------------------------------------------

    def let_lag(self, master):
        """The other node, paused: what the master is written from now on it never gets, unless it
        is resumed while the master lives."""
        replica, = (node for node in self.nodes if node is not master)
        replica.pause()
        master.command("CLIENT", "KILL", "TYPE", "replica")
        return replica

    # ---- looking -------------------------------------------------------------------------------

    @property
    def _parts(self):
        return [*self.nodes, *self.sentinels]

    def _whole(self):
        master = self.master()
        if master is None:
            return False
        replica, = (node for node in self.nodes if node is not master)
        if "role:master" not in self._replication(master):
            return False
        if "master_link_status:up" not in self._replication(replica):
            return False
        return all(self._knows_all(sentinel.seen()) for sentinel in self.sentinels)

    @staticmethod
    def _knows_all(seen):
        return (seen["flags"], seen["num-slaves"], seen["num-other-sentinels"]) == (
            "master", "1", str(SENTINELS - 1))

    @staticmethod
    def _replication(node):
        try:
            return node.command("INFO", "replication")
        except (OSError, RedisError):
            return ""

    def _all(self, do):
        with ThreadPoolExecutor(len(self._parts)) as pool:
            list(pool.map(do, self._parts))
