"""What the relations chapter stands on beside the stage: the reconciler, the API, what
they still have to do, and the faults done to them."""

import time

from demo.clients import HttpClient
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


class RelationStage:
    def __init__(self, stage, ports):
        self.stage = stage
        stack, brokers = stage.stack, stage.stack.env["FANLINE_KAFKA_BROKERS"]
        kafka = ["--kafka-properties", SETTINGS]
        self.mirrors = stage.fleet.mirrors
        self.reconciler = Daemon(stack, ports, RECONCILER, "reconciler", kafka)
        self.api = Api(stack, ports)
        self.log = RelationLog(brokers)
        self.relations = Relations(stack.mysql)
        # What is upstream first.
        self._backlogs = [Backlog(brokers, f"{MIRROR}-events", RELATION_EVENTS),
                          Backlog(brokers, RECONCILER, RELATION_LOG),
                          Backlog(brokers, f"{RECONCILER}-retry", f"{RELATION_LOG}.retry")]

    @property
    def daemons(self):
        return [*self.mirrors, self.reconciler, self.api]

    def start(self):
        for daemon in (self.reconciler, self.api):
            daemon.start()
        for daemon in (self.reconciler, self.api):
            daemon.wait_ready(LIMIT)

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

    def change_unmirrored(self, changes):
        """Changes by the API, with no mirror running, and marks log1 done. Returns the forward
        rows."""
        client = HttpClient(self.api, changes, seconds=0)
        client.start()
        client.finish()
        forward = []
        for src, dst, live, _ in changes:
            edge = f"src = {src} AND dst = {dst}"
            self._shard(src).query(f"UPDATE log1 SET done = 1 WHERE done = 0 AND {edge}")
            ver, = self._one(src, f"SELECT ver FROM following WHERE {edge}")
            forward.append((src, dst, int(ver), live))
        return forward

    def announce(self, forward):
        """Appends their msg1, of changes that no mirror finds in log1: no reverse row is written and
        no msg2 comes. Returns when they were appended, in Unix milliseconds."""
        at_ms = time.time_ns() // 1_000_000
        self.log.written(*forward)
        return at_ms

    def repaired(self):
        """(src, dst) -> when the pair reconciler first repaired it, in Unix milliseconds."""
        return {(int(src), int(dst)): int(at) for shard in self.stage.stack.mysql
                for src, dst, at in shard.query("SELECT src, dst, MIN(at) FROM repair_log "
                                                "WHERE net = 'pair' GROUP BY src, dst")}

    def _shard(self, user):
        return self.stage.stack.mysql[self.relations.shard_of(user)]

    def _one(self, user, sql):
        return self._shard(user).query(sql)[0]

    def close(self):
        for backlog in self._backlogs:
            backlog.close()
