"""The chapter of relations: tens of thousands of follows and unfollows through the API and by
events, while mirrors die, a shard is away, messages are lost and seen again, and rows are broken.
Then a shard fails over to a replica that was behind, and somebody edits rows.
Then everything must have been found and repaired, and be the same in both directions."""

import time
from collections import Counter

from demo import relation_report
from demo.changes import Changes, outcome, relation_plan_for
from demo.check import take_swept
from demo.clients import EventClient, HttpClient, Publisher
from demo.relation_stage import DELETE, MARK, RelationStage
from demo.stage import LIMIT
from stack.waiting import wait_until

HTTP_CLIENTS = 4
BY_HTTP = 0.4  # of the operations; the others are events
SECONDS = 24  # the operations are spread over
KILL_AT, REFUSE_AT, REPEAT_AT, LOSE_AT = 0.1, 0.25, 0.5, 0.6  # of the operations
REFUSED, REFUSED_S = 1, 10  # which shard, and for how long
FAILS_OVER = 1  # which shard
THRICE = 10  # every tenth event is sent three times
SEEN_AGAIN = 2_000  # messages of relation-log, three times each


class RelationChapter:
    def __init__(self, stage, ports, progress, live):
        self._stage, self._progress = stage, progress
        self._on = RelationStage(stage, ports)
        self._plan = relation_plan_for(len(stage.graph.users))
        readers = set(live)
        self._changes = Changes(stage.workload, stage.ledger, live,
                                [user for user in stage.graph.users if user not in readers])
        self._clients = []
        self._injected = {}  # edge -> when its message was lost, Unix ms

    def tell(self):
        """Its figures, and what is wrong."""
        begin = time.monotonic()
        try:
            self._start()
            self._kill_a_mirror()
            self._refuse_a_shard()
            self._see_again()
            self._lose_and_break()
            self._finish()
        finally:
            for client in self._clients:
                client.leave()
        self._settle()
        self._fail_over()
        self._look_later()
        self._look_at_all_rows()
        with self._progress.step("compare both directions") as step:
            found = self._compare()
            figures = relation_report.figures(found, time.monotonic() - begin)
            step.note("{edges_forward:,} forward and {edges_reverse:,} reverse rows: "
                      "{differences_after:,} differ; {counter_drift_after:,} wrong counters"
                      .format(**figures))
        self._on.close()
        take_swept(self._stage.ledger, self._stage.stack.mysql)
        return figures, list(relation_report.complaints(figures, found))

    def _start(self):
        on, plan = self._on, self._plan
        with self._progress.step("start the reconciler") as step:
            lists = self._changes.operations(
                plan.operations, [BY_HTTP / HTTP_CLIENTS] * HTTP_CLIENTS + [1 - BY_HTTP])
            self._lost = self._changes.lost(plan.lost)
            self._unsaid = self._changes.lost(plan.unsaid)
            self._forgotten = self._changes.lost(plan.forgotten)
            self._broken = self._changes.broken(plan.broken)
            self._old = self._changes.broken(plan.old)
            self._tail = self._changes.lost(plan.tail)
            self._friends = self._changes.friends(plan.friends, lambda low, high: on.rows.hold(
                (low, high), FAILS_OVER) == "reverse")
            self._posts = self._stage.workload.events(plan.posts, time.time_ns() // 1_000_000)
            on.start()
            brokers = self._stage.stack.env["FANLINE_KAFKA_BROKERS"]
            self._changing = [HttpClient(on.api, changes, SECONDS) for changes in lists[:-1]]
            self._changing.append(EventClient(brokers, lists[-1], SECONDS, THRICE))
            self._clients = [*self._changing,
                             Publisher(self._stage.send, self._posts, SECONDS)]
            for client in self._clients:
                client.start()
            step.note(f"a reconciler and an API; {HTTP_CLIENTS} HTTP "
                      f"clients and a producer begin {plan.operations:,} follows and unfollows, "
                      f"{len(self._posts):,} posts beside")

    def _kill_a_mirror(self):
        self._wait_done(KILL_AT)
        with self._progress.step("kill a mirror") as step:
            victim = self._on.mirrors[0]
            victim.kill()
            victim.start().wait_ready(LIMIT)
            step.note("with SIGKILL, and start it again")

    def _refuse_a_shard(self):
        self._wait_done(REFUSE_AT)
        with self._progress.step("take a shard away") as step:
            self._on.refuse(REFUSED, REFUSED_S)
            refused = sum(client.refused for client in self._changing[:-1])
            step.note(f"for {REFUSED_S} s; the API refused {refused:,} requests meanwhile")

    def _see_again(self):
        # Before messages get lost: otherwise the repetition would make one of them seen.
        self._wait_done(REPEAT_AT)
        with self._progress.step("repeat messages") as step:
            self._repeated = self._on.log.again(SEEN_AGAIN, times=3)
            step.note(f"{self._repeated:,} of relation-log three times more; every {THRICE}th "
                      "event is sent three times")

    def _lose_and_break(self):
        self._wait_done(LOSE_AT)
        on = self._on
        with self._progress.step("lose messages, break rows") as step:
            for mirror in on.mirrors:
                mirror.kill()
            forward = on.change_unmirrored(self._lost, MARK, DELETE) + on.break_reverse(self._broken)
            on.change_unmirrored(self._unsaid, MARK)
            on.change_unmirrored(self._forgotten, DELETE)
            at_ms = on.announce(forward)
            self._injected = {(src, dst): at_ms for src, dst, *_ in forward}
            for mirror in on.mirrors:
                mirror.start()
            for mirror in on.mirrors:
                mirror.wait_ready(LIMIT)
            silent = len(self._unsaid) + len(self._forgotten)
            step.note(f"all mirrors killed; {len(self._lost) + silent:,} changes they never see, {len(self._broken):,} "
                      f"reverse rows broken by hand; no msg2 comes, of {silent:,} no msg1")

    def _finish(self):
        with self._progress.step("follow and unfollow") as step:
            wait_until(lambda: self._done(step) == 1, LIMIT, "the clients to be done")
            for client in self._clients:
                client.finish()
            for client in self._changing:
                self._note(outcome(client.todo))
            beside = self._lost + self._unsaid + self._forgotten
            self._note(outcome(beside))
            muted = sum(change.delivery == "none" for client in self._changing
                        for change in client.todo)
            step.note(f"{self._plan.operations + len(beside):,} in all; {muted:,} follows were "
                      "muted and back")
        self._stage.note_part("relations", self._posts, SECONDS)

    def _settle(self):
        with self._progress.step("find and repair") as step:
            def show(left):
                step.note(left or "hints to be brought to timelines")
                step.at(len(self._injected.keys() & self._on.repaired("pair").keys()) /
                        max(1, len(self._injected)))

            self._on.wait_quiet(show)
            step.note("nothing left to mirror, to answer or to repair")

    def _fail_over(self):
        on, shard = self._on, self._stage.stack.mysql[FAILS_OVER]
        with self._progress.step("fail a shard over") as step:
            shard.keep()
            on.rows.change(self._tail)
            on.rows.befriend(self._friends)
            on.wait_quiet(step.note)
            shard.fall_back()
            lost = {change.edge: on.rows.hold(change.edge, FAILS_OVER) for change in self._tail}
            self._edited = [change.edge for change in self._tail if change.live and not lost[change.edge]]
            on.rows.edit(self._edited)
            self._note(outcome(self._tail))
            self._note({edge: True for pair in self._friends for edge in (pair, pair[::-1])})
            self._taken = Counter(filter(None, lost.values()))
            self._left_to_log = {*self._edited, *self._friends, *(change.edge for change in self._unsaid),
                                 *(edge for edge, rows in lost.items() if rows)}
            step.note("to a replica that was behind: {reverse:,} edges lost their reverse row, {forward:,} their "
                      "forward row, {both:,} both, ".format(**{"reverse": 0, "forward": 0, "both": 0, **self._taken})
                      + f"{len(self._friends):,} friendships one edge; {len(self._edited):,} edited by hand")

    def _look_later(self):
        with self._progress.step("look once more, later") as step:
            self._look_with("log", self._left_to_log, step)
            step.note(f"ten minutes are a second here: {len(self._left_to_log):,} edges found by the log scan and "
                      "repaired")

    def _look_at_all_rows(self):
        with self._progress.step("look at all rows") as step:
            self._on.rows.edit(self._old, both=False)
            broken = {*self._old, *(change.edge for change in self._forgotten)}
            self._look_with("scan", broken, step)
            step.note(f"{len(self._old):,} edges that no log knows were edited by hand; these, and "
                      f"{len(self._forgotten):,} deleted from log1, found by the full scan and repaired")

    def _look_with(self, net, broken, step):
        def show(left):
            step.note(left)
            step.at(1 - len(broken - self._on.repaired(net).keys()) / max(1, len(broken)))

        self._on.look_with(net, broken)
        self._on.wait_quiet(show)

    def _note(self, edges):
        ledger = self._stage.ledger
        for (reader, author), live in edges.items():
            (ledger.follow if live else ledger.unfollow)(reader, author)

    def _wait_done(self, share):
        wait_until(lambda: self._done() >= share, LIMIT, f"{share:.0%} of the operations")

    def _done(self, step=None):
        self._on.check_alive()
        for client in self._clients:
            client.check()
        share = (sum(client.done for client in self._clients) /
                 sum(len(client.todo) for client in self._clients))
        if step:
            step.at(share)
        return share

    def _compare(self):
        on = self._on
        return relation_report.Found(on.relations.forward(), on.relations.reverse(),
                                     on.relations.wrong_counters(), on.counters(),
                                     self._injected, on.repaired("pair"))

    def how(self):
        """For the report: what was done."""
        by_http, events = self._changing[:-1], self._changing[-1]
        return {
            "by_http": sum(len(client.todo) for client in by_http),
            "by_events": len(events.todo),
            "events_sent_again": events.sent_again,
            "posts": len(self._posts),
            "refused_by_the_api": sum(client.refused for client in by_http),
            "messages_repeated": self._repeated,
            "changes_no_mirror_saw": len(self._lost),
            "changes_without_message": len(self._unsaid),
            "changes_without_trace": len(self._forgotten),
            "reverse_rows_broken": len(self._broken),
            "lost_by_a_failover": dict(self._taken),
            "friendships_lost_by_it": len(self._friends),
            "rows_edited": len(self._edited),
            "old_rows_edited": len(self._old),
        }
