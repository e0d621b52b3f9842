"""Dispatchers, pushers and mirrors, seen as one."""

import time

from stack.programs.backlog import Backlog, PendingChanges
from stack.programs.daemon import Daemon
from stack.programs.metrics import Samples
from stack.waiting import NotInTime, wait_until

FEED, TASKS = "feed-events", "fanout-tasks"
RELATION_EVENTS, RELATION_LOG = "relation-events", "relation-log"
PARTITIONS = 16  # of fanout-tasks, unless feedctl init is told otherwise


class Fleet:
    """The daemons of one installation, each a process. `close()` ends only its own Kafka
    clients: the processes end with the stack."""

    def __init__(self, stack, ports, dispatchers=1, pushers=1, ranges=PARTITIONS,
                 dispatcher_args=(), pusher_args=(), mirrors=0, mirror_args=()):
        self.ranges = ranges
        self.dispatchers = [
            Daemon(stack, ports, "fanline-dispatcher", f"dispatcher-{n}", dispatcher_args)
            for n in range(1, dispatchers + 1)]
        self.pushers = [
            Daemon(stack, ports, "fanline-pusher", f"pusher-{n}", pusher_args)
            for n in range(1, pushers + 1)]
        self.mirrors = [
            Daemon(stack, ports, "fanline-mirror", f"mirror-{n}", mirror_args)
            for n in range(1, mirrors + 1)]
        self._brokers = brokers = stack.kafka.address
        # What is upstream first: its effects are not yet counted below.
        self._backlogs = [Backlog(brokers, "fanline-dispatcher", FEED)]
        if mirrors:
            self._backlogs += [Backlog(brokers, "fanline-mirror-events", RELATION_EVENTS),
                               PendingChanges(stack.mysql)]
        self._backlogs.append(Backlog(brokers, "fanline-pusher", TASKS))

    @property
    def daemons(self):
        return [*self.dispatchers, *self.pushers, *self.mirrors]

    def cut_anew(self, ranges, tasks):
        """The installation has so many ranges from now on, and their hints this topic."""
        self.ranges = ranges
        self._backlogs.pop().close()
        self._backlogs.append(Backlog(self._brokers, "fanline-pusher", tasks))

    def start(self):
        for daemon in self.daemons:
            daemon.start()
        return self

    def wait_serving(self, timeout=300):
        """Every daemon is ready, and every range has an owner that claimed it."""
        for daemon in self.daemons:
            daemon.wait_ready(timeout)
        wait_until(lambda: self.ranges_ready() == self.ranges, timeout, "every range to be owned")
        return self

    def ranges_ready(self):
        return sum(pusher.scrape().total("fanline_ranges_ready") for pusher in self.pushers)

    def counters(self):
        """Counters and histograms of all processes in all their lives, added."""
        return sum((daemon.counters() for daemon in self.daemons), Samples())

    def check_alive(self):
        for daemon in self.daemons:
            daemon.check_alive()

    def backlog(self):
        """Records or changes not yet worked on, of the first place that has any."""
        return next(filter(None, (backlog.records() for backlog in self._backlogs)), 0)

    def unfinished(self):
        """The same in words, of all; empty: none."""
        return ", ".join(f"{records} records for {backlog.group}" for backlog in self._backlogs
                         if (records := backlog.records()))

    def wait_idle(self, timeout, meanwhile=lambda counters: None):
        """Waits until everything appended so far is done and acknowledged. `meanwhile` is given
        the counters now and then. Returns the moment (time.monotonic) the counters of work last
        moved: the backlog is seen to be empty only after the next commit."""
        deadline = time.monotonic() + timeout
        moved_at, before = time.monotonic(), None
        while True:
            self.check_alive()
            counters = self.counters()
            meanwhile(counters)
            work = _work(counters)
            if work != before:
                moved_at, before = time.monotonic(), work
            elif self._is_idle():
                return moved_at
            if time.monotonic() >= deadline:
                raise NotInTime(f"waited {timeout:g} s for the fleet to be idle; "
                                f"{self.backlog()} records are left")
            time.sleep(0.1)

    def _is_idle(self):
        try:
            return self.backlog() == 0
        except ConnectionError:
            return False

    def close(self):
        for backlog in self._backlogs:
            backlog.close()


def _work(counters):
    return (counters.total("fanline_events_done_total"), counters.total("fanline_hints_done_total"),
            counters.total("fanline_rel_apply_total"), counters.total("fanline_deliveries_total"))
