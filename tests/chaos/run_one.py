"""One whole run of a plan, and what came of it."""

import contextlib
import time
from collections import Counter
from typing import NamedTuple

from stack.programs.visits import make_live
from stack.waiting import NotInTime, wait_until
from tests.chaos import dead_letters, follows, posts
from tests.chaos.faults import Lane
from tests.chaos.plan import LANES
from tests.chaos.readers import Readers, expire_unfinished
from tests.chaos.rig import JOINING, LATER_S, Rig
from tests.chaos.row_faults import Strangers
from tests.chaos.verdict import Model, judge

PRODUCERS = 3
HTTP_CLIENTS = 3
QUIET_WITHIN_S = 300
# By then whoever lost a range, or hung, has said so.
LAST_WORDS_S = 6
_SAY_EVERY_S = 5.0
_LOOK_EVERY_S = 0.2


class Result(NamedTuple):
    seed: int
    events: int
    changes: int
    faults: dict  # kind -> how many
    takeovers: dict  # cause -> how many
    fenced: int
    replayed: int
    blamed: int  # hints, for kills
    visits: int
    repairs: dict  # net -> how many
    seconds: float  # all of it
    quiet_s: float  # from the end of the last fault and client
    audit: dict
    wrong: list


def run(plan, say):
    begin = time.monotonic()
    with Rig(plan, say) as rig:
        one = _Run(plan, rig, say)
        try:
            result = one.go()
        except Exception as error:
            result = one.result({}, [*rig.complaints, f"{type(error).__name__}: {error}"])
        finally:
            one.leave()
        if result.wrong:
            say(f"logs of this failure: {rig.stack.keep_logs(f'chaos-{plan.seed}')}")
    return result._replace(seconds=time.monotonic() - begin)


class _Run:
    def __init__(self, plan, rig, say):
        self.plan, self.rig, self.say = plan, rig, say
        draw = plan.drawn("posts")
        self.events = posts.draw_events(draw, plan.events, rig.followers,
                                        time.time_ns() // 1_000_000, plan.seconds)
        brokers = rig.brokers_of_applications
        self.senders = [posts.Sender(brokers, sendings, plan.seconds)
                        for sendings in posts.hand_out(draw, self.events, PRODUCERS)]
        drawn = follows.draw_changes(plan.drawn("follows"), plan.changes, rig.followers, HTTP_CLIENTS + 1)
        self.strangers = Strangers(rig.followers, {change.edge for changes in drawn for change in changes})
        *by_http, by_events = drawn
        self.changers = [follows.OverHttp(rig.api, changes, plan.seconds) for changes in by_http]
        self.changers.append(follows.ByEvents(brokers, by_events, plan.seconds,
                                              plan.drawn("copies")))
        self.readers = Readers(rig.stack, rig.api_of_readers, rig.users, plan.drawn("readers"))
        self.lanes = []
        self.quiet_s, self.blamed = 0.0, 0

    @property
    def clients(self):
        return [*self.senders, *self.changers, self.readers]

    def go(self):
        self.begin = time.monotonic()
        self.lanes = [Lane(self.rig, self.begin, [fault for fault in self.plan.faults
                                                  if fault.lane == lane], self.strangers)
                      for lane in LANES]
        for client in (*self.clients, *self.lanes):
            client.start()
        self._watch([*self.lanes, *self.senders, *self.changers])
        self.readers.leave()
        self.readers.finish()
        self._settle()
        model = Model(self.rig.followers, [sending.event for sending in self.events],
                      {edge: live for each in (*self.changers, self.strangers)
                       for edge, live in each.expected.items()})
        wrong, audit = judge(self.rig, model)
        return self.result(audit, wrong)

    def result(self, audit, wrong):
        counters = self.rig.counters()
        return Result(
            seed=self.plan.seed, events=len(self.events),
            changes=sum(changer.done for changer in self.changers),
            faults=Counter(fault.kind for lane in self.lanes for fault in lane.todo[:lane.done]),
            takeovers={cause: int(counters.total("fanline_takeovers_total", cause=cause))
                       for cause in ("assigned", "session_lost", "fenced", "rolled_back")},
            fenced=int(counters.total("fanline_fenced_writes_total")),
            replayed=int(counters.total("fanline_hints_replayed_total")),
            blamed=self.blamed, visits=self.readers.visits,
            repairs={net: int(counters.total("fanline_relation_repairs_total", net=net))
                     for net in ("pair", "log", "scan")}, seconds=0.0, quiet_s=self.quiet_s,
            audit=audit, wrong=wrong)

    def leave(self):
        for client in (*self.clients, *self.lanes):
            client.leave()

    # ---- waiting -------------------------------------------------------------------------------

    def _watch(self, clients):
        """Until all are done. Meanwhile daemons are looked after, and what was done is said."""
        said = time.monotonic()
        while any(client.is_alive() for client in clients):
            for client in self.clients + self.lanes:
                client.check()
            self._look_after()
            if time.monotonic() - said > _SAY_EVERY_S:
                said = time.monotonic()
                self.say(self._progress())
            time.sleep(_LOOK_EVERY_S)
        for client in clients:
            client.finish()

    def _progress(self):
        return (f"{time.monotonic() - self.begin:6.1f} s  "
                f"{sum(sender.done for sender in self.senders):,} of "
                f"{sum(len(sender.todo) for sender in self.senders):,} sendings and "
                f"{sum(changer.done for changer in self.changers):,} changes acknowledged, "
                f"{sum(lane.done for lane in self.lanes)} of {len(self.plan.faults)} faults over, "
                f"{self.readers.visits} visits ({self.readers.refused} refused)")

    def _look_after(self):
        for kept in self.rig.kept.values():
            kept.look()

    def _settle(self):
        """All is whole again; waits until nothing is left to do and everybody's timeline is
        live."""
        self._since = self._said = self._busy = time.monotonic()
        self._left, self._heard = "", False
        for kept in self.rig.kept.values():
            if JOINING not in kept.name:
                kept.start().resume()
        try:
            self._wait_quiet()
            self.quiet_s = self._busy - self._since
            self._await_log_scan()
            self.blamed = dead_letters.replay_blamed(self.rig)
            wait_until(self._all_live, 120, "all timelines to be live")
            self._wait_quiet()
        except NotInTime as error:
            raise NotInTime(f"{error}; left: {self._left}") from error

    def _await_log_scan(self):
        """Of log1, which no backlog tells of. What differs afterwards the verdict says."""
        relations = self.rig.relations
        with contextlib.suppress(NotInTime):
            wait_until(lambda: relations.forward() == relations.reverse(), 2 * LATER_S + 10, "the log scan")

    def _wait_quiet(self):
        self._quiet = 0
        wait_until(self._settled, QUIET_WITHIN_S, "nothing to be left to do")

    def _settled(self):
        self._look_after()
        try:
            self._left = self.rig.left() or self._not_ready()
        except OSError as error:
            self._left = str(error)
        now = time.monotonic()
        if self._left:
            self._busy = now
        if not self._heard and now - self._since > LAST_WORDS_S:
            self._heard = True
            self.rig.complaints += dead_letters.unsettled(self.rig)
        # Twice: a row that a repair writes goes through all of it again, maybe behind our look.
        self._quiet = self._quiet + 1 if self._heard and not self._left else 0
        if now - self._said > _SAY_EVERY_S:
            self._said = now
            self.say(f"{time.monotonic() - self.begin:6.1f} s  left: {self._left or 'nothing'}")
        time.sleep(0.1)
        return self._quiet > 2

    def _not_ready(self):
        return ", ".join(f"{kept.name} is not ready or misses something" for kept in self.rig.kept.values()
                         if kept.daemon.running and not kept.daemon.has_all())

    def _all_live(self):
        try:
            make_live(self.rig.api, self.rig.users, patience=10)
        except NotInTime as error:
            self._left = f"{error}: of rebuilds that nobody finishes"
            expire_unfinished(self.rig.redis)
            return False
        return True
