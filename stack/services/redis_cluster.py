"""A Redis Cluster: three masters, a replica each, made by the cluster's own commands.

    cluster = stack.redis                      # of LocalStack(cluster=True)
    master = cluster.owner(slot)
    cluster.move_slot(slot, to=other)          # or begin_move, move_keys, end_move
    replica = cluster.replica_of(master)
    master.kill()
    cluster.wait_whole()                       # the replica serves in its place

A replica stays with its master, and takes over however far it lags: faults of a test are those that
the test makes.
"""

import binascii
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from stack.services.redis import Redis
from stack.services.service import ServiceFailed
from stack.waiting import wait_until
from stack.wire.redis import RedisClient, RedisError

SLOTS = 16384
MASTERS = 3
_KEYS_PER_MOVE = 100
_ANSWER_WITHIN = 1  # seconds: a node that is paused must not hold those who look for a master


def slot_of(key):
    """By its hash tag where it has one."""
    _, _, rest = key.partition("{")
    tag, end, _ = rest.partition("}")
    return binascii.crc_hqx((tag if tag and end else key).encode(), 0) % SLOTS


class ClusterNode(Redis):
    ports_wanted = 2  # clients, the nodes' own bus

    def __init__(self, name, workspace, ports, env, **options):
        super().__init__(name, workspace, ports, env, **options)
        self.id = None  # once it has joined

    def argv(self):
        return super().argv() + [
            "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
            "--cluster-port", self.bus_port, "--cluster-node-timeout", "1000",
            "--cluster-require-full-coverage", "no",
            "--cluster-allow-replica-migration", "no", "--cluster-replica-validity-factor", "0",
            "--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port", self.announced_port,
            "--repl-diskless-sync-delay", "0",
        ] + self._tls_cluster_args()

    def _tls_cluster_args(self):
        """Who came by TLS is told of the others' doors with TLS."""
        if not self._certificates:
            return []
        return ["--tls-cluster", "yes", "--cluster-announce-tls-port", self.tls_port]

    @property
    def met_at(self):
        """Where other nodes find it."""
        return self.tls_port if self._certificates else self.announced_port

    @property
    def bus_port(self):
        return self._taken[1]


class Seat(NamedTuple):
    """What a node says of itself."""
    node: ClusterNode
    master: bool
    follows: str  # the id of its master; "-" of a master
    epoch: int
    slots: frozenset


class RedisCluster:
    also_told = {}

    def __init__(self, name, workspace, ports, env, masters=MASTERS, replicas=1, **options):
        """`replicas`: of each master. `options` are every node's. A node has one port for clients
        and for its replica: with `links` its replica, too, comes through its link, and lags while
        the link is cut. What nodes think of each other goes past the links."""
        self.name = name
        self.ready_after = None
        self.nodes = [ClusterNode(f"{name}{number}", workspace, ports, env, **options)
                      for number in range(1, masters * (1 + replicas) + 1)]
        self._masters_at_first = masters
        self._formed = False

    # ---- as any service ------------------------------------------------------------------------

    @property
    def address(self):
        """All nodes."""
        return ",".join(node.address for node in self.nodes)

    @property
    def announced(self):
        """All nodes, as seeds for programs."""
        return ",".join(node.announced for node in self.nodes)

    @property
    def tls_address(self):
        return ",".join(node.tls_address for node in self.nodes)

    @property
    def running(self):
        return all(node.running for node in self.nodes)

    @property
    def failed(self):
        return any(node.failed for node in self.nodes)

    def start(self):
        """Starts every node that does not run; returns when all slots are served and replicated."""
        begin = time.monotonic()
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            list(pool.map(lambda node: node.running or node.start(), self.nodes))
        if not self._formed:
            self._form()
            self._formed = True
        self.wait_whole()
        self.ready_after = time.monotonic() - begin
        return self

    def stop(self, timeout=15):
        self._all(lambda node: node.stop(timeout))

    def kill(self):
        self._all(lambda node: node.kill())

    def pause(self):
        self._all(lambda node: node.pause())

    def resume(self):
        self._all(lambda node: node.resume())

    def abandon(self):
        self._all(lambda node: node.abandon())

    def tail(self, lines=60):
        return "\n".join(f"{node.name}:\n{node.tail(lines)}"
                         for node in self.nodes if not node.running)

    # ---- who holds what ------------------------------------------------------------------------

    def masters(self):
        """Those that hold slots, in the order of the slots."""
        owners = self._owners()
        return list(dict.fromkeys(owners[slot] for slot in sorted(owners)))

    def owner(self, slot):
        owner = self.owner_if_any(slot)
        if owner is None:
            raise ServiceFailed(f"{self.name}: nobody serves slot {slot}")
        return owner

    def owner_if_any(self, slot):
        return self._owners().get(slot)

    def replica_of(self, master):
        found = [seat.node for seat in self._seats() if seat.follows == master.id]
        if not found:
            raise ServiceFailed(f"{self.name}: {master.name} has no replica")
        return found[0]

    def command(self, name, key, *words):
        """A command with one key, at the master of its slot."""
        return self.owner(slot_of(key)).command(name, key, *words)

    def wait_whole(self, timeout=60):
        """Until every running node knows a master that serves for each slot, and every replica that
        runs follows one of these."""
        wait_until(self._whole, timeout, f"{self.name} to serve all slots")

    # ---- faults and changes --------------------------------------------------------------------

    def let_lag(self, master):
        """Its replica, paused: what the master is written from now on it never gets, unless it is
        resumed while the master lives. A pause alone would leave megabytes in its socket, which it
        reads afterwards."""
        replica = self.replica_of(master)
        replica.pause()
        master.command("CLIENT", "KILL", "TYPE", "replica")
        return replica

    def begin_move(self, slot, to):
        """From now on the slot is migrating: keys that left it are asked for at `to`."""
        source = self.owner(slot)
        to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", to.id)

    def move_keys(self, slot, to, most=None):
        """Moves the slot's keys, or so many of them; how many it moved."""
        moved = 0
        with self.owner(slot).client() as source:
            while most is None or moved < most:
                page = min(_KEYS_PER_MOVE, most - moved if most else _KEYS_PER_MOVE)
                keys = source.command("CLUSTER", "GETKEYSINSLOT", slot, page)
                if not keys:
                    break
                source.command("MIGRATE", "127.0.0.1", to.peers_port, "", 0, 5000, "KEYS", *keys)
                moved += len(keys)
        return moved

    def end_move(self, slot, to):
        """The slot is of `to`, as all masters are told."""
        others = [node for node in self.masters() if node is not to]
        for node in [to, *others]:
            node.command("CLUSTER", "SETSLOT", slot, "NODE", to.id)

    def move_slot(self, slot, to):
        self.begin_move(slot, to)
        self.move_keys(slot, to)
        self.end_move(slot, to)

    def delete_left_behind(self, slot, node):
        """Keys of a slot that this master does not serve: a move to it was given up half-way."""
        node.command("CLUSTER", "SETSLOT", slot, "IMPORTING", self.owner(slot).id)
        with node.client() as client:
            while keys := client.command("CLUSTER", "GETKEYSINSLOT", slot, _KEYS_PER_MOVE):
                for key in keys:
                    client.command("ASKING")
                    client.command("UNLINK", key)
        node.command("CLUSTER", "SETSLOT", slot, "STABLE")

    # ---- making it -----------------------------------------------------------------------------

    def _form(self):
        masters = self.nodes[:self._masters_at_first]
        replicas = self.nodes[self._masters_at_first:]
        for number, node in enumerate(self.nodes):
            node.id = node.command("CLUSTER", "MYID")
            node.command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for number, node in enumerate(masters):
            first, end = (SLOTS * at // len(masters) for at in (number, number + 1))
            node.command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
        for node in self.nodes[1:]:
            self.nodes[0].command("CLUSTER", "MEET", "127.0.0.1", node.met_at, node.bus_port)
        # While two shake hands they have made-up ids for each other.
        ids = {node.id for node in self.nodes}
        self._wait(lambda: all({line.id for line in _table(node)} == ids for node in self.nodes),
                   "its nodes to know each other")
        for master, replica in zip(itertools.cycle(masters), replicas):
            replica.command("CLUSTER", "REPLICATE", master.id)
        self._wait(self._replicated, "its replicas to follow")

    def _replicated(self):
        replicas = self.nodes[self._masters_at_first:]
        return all("master_link_status:up" in replica.command("INFO", "replication")
                   for replica in replicas)

    def _wait(self, predicate, what):
        def ready_or_dead():
            for node in self.nodes:
                if not node.running:
                    raise ServiceFailed(f"{node.name} is gone:\n{node.tail()}")
            return predicate()

        wait_until(ready_or_dead, 60, f"{self.name}: {what}")

    # ---- looking -------------------------------------------------------------------------------

    def _whole(self):
        seats = self._seats()
        masters = [seat for seat in seats if seat.master and seat.slots]
        if sum(len(seat.slots) for seat in masters) != SLOTS:
            return False
        ids = {seat.node.id for seat in masters}
        if any(seat.follows not in ids for seat in seats if not seat.master):
            return False
        return all(self._agrees(seat.node, masters) for seat in seats)

    def _agrees(self, node, masters):
        info = node.command("CLUSTER", "INFO")
        if "cluster_state:ok" not in info:
            return False
        known = {line.id: line.slots for line in _table(node) if line.slots}
        if known != {seat.node.id: seat.slots for seat in masters}:
            return False
        replication = node.command("INFO", "replication")
        return "role:master" in replication or "master_link_status:up" in replication

    def _owners(self):
        """Node by slot. After a failover the former master claims its slots beside the new one,
        until it hears of it: the later epoch holds."""
        owners = {}
        for seat in sorted(self._seats(), key=lambda seat: seat.epoch):
            if seat.master:
                owners.update(dict.fromkeys(seat.slots, seat.node))
        return owners

    def _seats(self):
        seats = []
        for node in self.nodes:
            if not node.running:
                continue
            try:
                own, = (line for line in _table(node) if "myself" in line.flags)
            except (OSError, RedisError):
                continue  # paused, loading, or gone meanwhile
            seats.append(Seat(node, "master" in own.flags, own.follows, own.epoch, own.slots))
        return seats

    def _all(self, do):
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            list(pool.map(do, self.nodes))


class _Line(NamedTuple):
    """Of CLUSTER NODES."""
    id: str
    flags: list
    follows: str
    epoch: int
    slots: frozenset


def _table(node):
    with RedisClient(node.port, _ANSWER_WITHIN) as client:
        return [_parse(line.split()) for line in client.command("CLUSTER", "NODES").splitlines()]


def _parse(words):
    slots = set()
    for word in words[8:]:
        if word.startswith("["):
            continue  # on its way
        first, _, last = word.partition("-")
        slots.update(range(int(first), int(last or first) + 1))
    return _Line(words[0], words[2].split(","), words[3], int(words[6]), frozenset(slots))
