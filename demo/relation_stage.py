"""What the relations chapter stands on beside the stage: the reconciler, the API, what
they still have to do, and the faults done to them."""

import itertools
import time

from demo.lost_rows import LostRows
from demo.stage import LIMIT, SETTINGS
from stack.programs.api import Api
from stack.programs.backlog import Backlog
from stack.programs.daemon import Daemon
from stack.programs.fleet import RELATION_EVENTS, RELATION_LOG
from stack.programs.metrics import Samples
from stack.programs.relation_log import RelationLog
from stack.programs.relations import Relations
from stack.waiting import NotInTime

MIRROR, RECONCILER = "fanline-mirror", "fanline-reconciler"
# Nets that look for what got lost, one after the other, each with a reconciler of its own: so it is known which of
# them has to find what. The scans are in a hurry.
ALONE, HURRIED = ["--full-scan-rate", "0"], ["--log-scan-after", "1s", "--log-scan-rate", "20000"]
NETS = {"pair": ALONE, "log": HURRIED + ALONE, "scan": [
    *HURRIED, "--full-scan-rate", "50000", "--grace", "500ms"]}  # a page that differs takes a grace
MARK, DELETE = "UPDATE log1 SET done = 1", "DELETE FROM log1"


class RelationStage:
    def __init__(self, stage, ports):
        self.stage = stage
        stack, brokers = stage.stack, stage.stack.env["FANLINE_KAFKA_BROKERS"]
        self.mirrors = stage.fleet.mirrors
        self._reconcilers = {net: Daemon(stack, ports, RECONCILER, f"reconciler-{net}",
                                         ["--kafka-properties", SETTINGS, *args]) for net, args in NETS.items()}
        self.reconciler = self._reconcilers["pair"]
        self.api = Api(stack, ports)
        self.log = RelationLog(brokers)
        self.relations = Relations(stack.mysql)
        self.rows = LostRows(stage, self.api, self.relations)
        self._net, self._broken = "pair", set()  # edges that this net has to repair
        # What is upstream first.
        self._backlogs = [Backlog(brokers, f"{MIRROR}-events", RELATION_EVENTS),
                          Backlog(brokers, RECONCILER, RELATION_LOG),
                          Backlog(brokers, f"{RECONCILER}-retry", f"{RELATION_LOG}.retry")]

    @property
    def daemons(self):
        return [*self.mirrors, *self._reconcilers.values(), self.api]

    def start(self):
        for daemon in (self.reconciler, self.api):
            daemon.start()
        for daemon in (self.reconciler, self.api):
            daemon.wait_ready(LIMIT)

    def look_with(self, net, broken):
        """From now on with this net, too, which has to repair these edges."""
        self.reconciler.stop()
        self.reconciler = self._reconcilers[net].start().wait_ready(LIMIT)
        self._net, self._broken = net, set(broken)

    def counters(self):
        return sum((daemon.counters() for daemon in self.daemons), Samples())

    def check_alive(self):
        for daemon in self.daemons:
            daemon.check_alive()
        self.stage.fleet.check_alive()

    def left(self):
        """The work not done yet, in words, or why it is unknown; empty when there is none."""
        try:
            return self._left()
        except OSError as error:
            return str(error)

    def _left(self):
        events, *others = self._backlogs
        if records := events.records():
            return f"{records:,} relation events"
        if rows := self.relations.pending():
            return f"{rows:,} changes to be mirrored"
        for backlog in others:
            if records := backlog.records():
                return f"{records:,} records for {backlog.group}"
        if pairs := self.reconciler.scrape().total("fanline_rel_pending"):
            return f"{pairs:,.0f} pairs to be answered"
        if broken := self._broken and self._broken - self.repaired(self._net).keys():
            return f"{len(broken):,} edges to be repaired"
        return ""

    def wait_quiet(self, show):
        """Waits until every change is mirrored, answered and acknowledged, and the hints of it
        all are in the timelines. `show` is given what is left, now and then."""
        deadline = time.monotonic() + LIMIT
        quiet = 0
        # Twice: a repaired forward row goes through all of it again, maybe behind our look.
        while quiet < 2:
            self.check_alive()
            left = self.left()
            quiet = 0 if left else quiet + 1
            if left and time.monotonic() > deadline:
                raise NotInTime(f"waited {LIMIT} s for relations to be quiet; left: {left}")
            show(left)
            time.sleep(0.2)
        self.stage.fleet.wait_idle(LIMIT)

    # ---- faults --------------------------------------------------------------------------------

    def refuse(self, shard, seconds):
        """Takes the shard away for so many seconds."""
        server = self.stage.stack.mysql[shard]
        begin = time.monotonic()
        server.stop()
        while time.monotonic() < begin + seconds:
            self.check_alive()
            time.sleep(0.1)
        server.start()

    def break_reverse(self, edges):
        """Deletes two of three reverse rows, with what they counted, and makes the others
        tombstones of the same version. Returns the forward rows as (src, dst, ver, live)."""
        forward = []
        for number, (src, dst) in enumerate(edges):
            ver, = self._one(src, f"SELECT ver FROM following WHERE src = {src} AND dst = {dst}")
            forward.append((src, dst, int(ver), True))
            with self._shard(dst).client() as client:
                client.query("START TRANSACTION")
                row = f"follower WHERE dst = {dst} AND src = {src} AND state = 1"
                changed = client.query(f"DELETE FROM {row}" if number % 3 else
                                       f"UPDATE {row.replace(' WHERE', ' SET state = 0 WHERE')}")
                if changed != 1:
                    raise ConnectionError(f"no reverse row of {src} -> {dst} to break")
                client.query(f"UPDATE user_fan SET fans_cnt = fans_cnt - 1 WHERE user_id = {dst}")
                client.query("COMMIT")
        return forward

    def change_unmirrored(self, changes, *ends):
        """Changes by the API, with no mirror running, and then ends their rows of log1, each in another of
        these ways. Returns the forward rows."""
        self.rows.change(changes)
        forward = []
        for (src, dst, live, _), end in zip(changes, itertools.cycle(ends)):
            edge = f"src = {src} AND dst = {dst}"
            self._shard(src).query(f"{end} WHERE done = 0 AND {edge}")
            ver, = self._one(src, f"SELECT ver FROM following WHERE {edge}")
            forward.append((src, dst, int(ver), live))
        return forward

    def announce(self, forward):
        """Appends their msg1, of changes that no mirror finds in log1: no reverse row is written and
        no msg2 comes. Returns when they were appended, in Unix milliseconds."""
        at_ms = time.time_ns() // 1_000_000
        self.log.written(*forward)
        return at_ms

    def repaired(self, net):
        """(src, dst) -> when that net first repaired it, in Unix milliseconds."""
        return {(int(src), int(dst)): int(at) for shard in self.stage.stack.mysql
                for src, dst, at in shard.query("SELECT src, dst, MIN(at) FROM repair_log "
                                                f"WHERE net = '{net}' GROUP BY src, dst")}

    def _shard(self, user):
        return self.stage.stack.mysql[self.relations.shard_of(user)]

    def _one(self, user, sql):
        return self._shard(user).query(sql)[0]

    def close(self):
        """From now on no repost is swept."""
        for backlog in self._backlogs:
            backlog.close()
        self.reconciler.stop()
        self.stage.fleet.wait_idle(LIMIT)
