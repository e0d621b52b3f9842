"""The chapter of relations: tens of thousands of follows and unfollows through the API and by
events, while mirrors die, a shard is away, messages are lost and seen again, and rows are broken.
Then everything must have been found and repaired, and be the same in both directions."""

import time

from demo import relation_report
from demo.changes import Changes, outcome, relation_plan_for
from demo.clients import EventClient, HttpClient, Publisher
from demo.relation_stage import RelationStage
from demo.stage import LIMIT
from stack.waiting import wait_until

HTTP_CLIENTS = 4
BY_HTTP = 0.4  # of the operations; the others are events
SECONDS = 24  # the operations are spread over
KILL_AT, REFUSE_AT, REPEAT_AT, LOSE_AT = 0.1, 0.25, 0.5, 0.6  # of the operations
REFUSED, REFUSED_S = 1, 10  # which shard, and for how long
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
        with self._progress.step("compare both directions") as step:
            found = self._compare()
            figures = relation_report.figures(found, time.monotonic() - begin)
            step.note("{edges_forward:,} forward and {edges_reverse:,} reverse rows: "
                      "{differences_after:,} differ; {counter_drift_after:,} wrong counters"
                      .format(**figures))
        self._on.close()
        return figures, list(relation_report.complaints(figures, found))

    def _start(self):
        on, plan = self._on, self._plan
        with self._progress.step("start the reconciler") as step:
            lists = self._changes.operations(
                plan.operations, [BY_HTTP / HTTP_CLIENTS] * HTTP_CLIENTS + [1 - BY_HTTP])
            self._lost = self._changes.lost(plan.lost)
            self._broken = self._changes.broken(plan.broken)
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
            forward = on.change_unmirrored(self._lost) + on.break_reverse(self._broken)
            at_ms = on.announce(forward)
            self._injected = {(src, dst): at_ms for src, dst, *_ in forward}
            for mirror in on.mirrors:
                mirror.start()
            for mirror in on.mirrors:
                mirror.wait_ready(LIMIT)
            step.note(f"all mirrors killed; {len(self._lost):,} changes they never see, "
                      f"{len(self._broken):,} reverse rows broken by hand; no msg2 comes")

    def _finish(self):
        with self._progress.step("follow and unfollow") as step:
            wait_until(lambda: self._done(step) == 1, LIMIT, "the clients to be done")
            for client in self._clients:
                client.finish()
            for client in self._changing:
                self._note(outcome(client.todo))
            self._note(outcome(self._lost))
            muted = sum(change.delivery == "none" for client in self._changing
                        for change in client.todo)
            step.note(f"{self._plan.operations + len(self._lost):,} in all; {muted:,} follows were "
                      "muted and back")
        self._stage.note_part("relations", self._posts, SECONDS)

    def _settle(self):
        with self._progress.step("find and repair") as step:
            def show(left):
                step.note(left or "hints to be brought to timelines")
                step.at(len(self._injected.keys() & self._on.repaired().keys()) /
                        max(1, len(self._injected)))

            self._on.wait_quiet(show)
            step.note("nothing left to mirror, to answer or to repair")

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
                                     self._injected, on.repaired())

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
            "reverse_rows_broken": len(self._broken),
        }
