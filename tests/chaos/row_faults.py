"""What gets lost of rows although all of their messages were answered: only a second look finds it. Each fault has
edges of its own, which nobody else changes: what a failover takes also hides from those who change an edge next."""

import contextlib
import random
import time

from stack.waiting import NotInTime, wait_until
from stack.wire.mysql import MysqlError
from tests.chaos import follows

# A change is looked at again rig.LATER_S after it was made. What is lost must be lost by then, also on a shard that
# hangs for 5 s.
LOST_WITHIN_S = 6
PATIENCE_S = 120
MIRROR_PATIENCE_S = 20
HALF_THERE = 0.5  # of the edges are there before, and end
_AGAIN_S = 0.1
_AWAY = (OSError, MysqlError)


class Strangers:
    """Edges that nobody else changes, each given out once."""

    def __init__(self, followers, taken):
        """`taken`: edges of others."""
        self._followers, self._taken = followers, set(taken)
        self._users = sorted(followers)
        self.expected = {}  # edge -> what it must bring at the end; None: nobody follows

    def edges(self, draw, count):
        """(edge, whether it is there)"""
        there = [(reader, author) for author in self._users for reader in sorted(self._followers[author])
                 if (reader, author) not in self._taken]
        edges = draw.sample(there, min(len(there), round(count * HALF_THERE)))
        self._taken.update(edges)
        return [*((edge, True) for edge in edges),
                *((edge, False) for edge, _ in self.pairs(draw, count - len(edges)))]

    def pairs(self, draw, count):
        """Both edges of two of whom neither follows the other."""
        found = []
        while len(found) < count:
            edge = tuple(draw.sample(self._users, 2))
            both = edge, edge[::-1]
            if not any(each in self._taken or each[0] in self._followers[each[1]] for each in both):
                self._taken.update(both)
                found.append(both)
        return found


class RowFaults:
    """Needs self.rig and self.strangers."""

    def lose_reverse(self, fault):
        """As a reverse shard does that fails over behind msg2; the rows of log1 stay, but for some."""
        def lose(edge, before, number):
            if number % 3 == 0:
                self.rig.relations.lose_log1(*edge)
            return self.rig.relations.lose_reverse(*edge, before, LOST_WITHIN_S)
        self._lose(fault, lose)

    def lose_forward(self, fault):
        """As a forward shard does that fails over behind msg1."""
        def lose(edge, before, _):
            lost = self.rig.relations.lose_forward(*edge, before, LOST_WITHIN_S)
            return lost and self.rig.relations.lose_log1(*edge)
        self._lose(fault, lose)

    def lose_both(self, fault):
        """Both shards, or somebody who deletes by hand."""
        def lose(edge, before, _):
            lost = self.rig.relations.lose_forward(*edge, before, LOST_WITHIN_S)
            return lost and self.rig.relations.lose_reverse(*edge, before, LOST_WITHIN_S)
        self._lose(fault, lose)

    def edit_rows(self, fault):
        """Somebody edits one of the two rows. A forward row that is edited in place is the truth, so it becomes
        older."""
        rows, older = self.rig.relations, "ver = ver - 7, pos = pos - 1"
        edits = [lambda edge: rows.edit_forward(*edge, older, LOST_WITHIN_S),
                 lambda edge: rows.edit_reverse(*edge, older, LOST_WITHIN_S),
                 lambda edge: rows.edit_reverse(*edge, "delivery = IF(state = 1, 2, 0), pos = pos + 1", LOST_WITHIN_S)]
        self._lose(fault, lambda edge, _, number: edits[number % len(edits)](edge))

    def mark_log1(self, fault):
        """Changes whose rows of log1 nobody sees pending, and that no message tells of."""
        rows = self.rig.relations
        edges = self._edges(fault)
        for edge, there in edges:
            def follows_now(edge=edge):
                row = rows.forward_row(*edge)
                return bool(row and row[1])

            def changed(edge=edge, live=not there):
                if follows_now(edge) != live:
                    rows.change(*edge, live, done=True)
                return True
            self.strangers.expected[edge] = None if there else "all"
            self._insist(changed)
        self._say(fault, len(edges), len(edges))

    def lose_friends(self, fault):
        """One of the two edges of friendships, as its forward shard does that fails over."""
        rows, draw = self.rig.relations, random.Random(fault.seed)
        pairs = self.strangers.pairs(draw, int(fault.target.split()[0]))
        self._await_mirrors()
        for pair in pairs:
            self.strangers.expected.update(dict.fromkeys(pair, "all"))
            self._insist(lambda pair=pair: rows.befriend(*pair[0], True, time.time_ns() // 1000) or True)
        lost = self._when_mirrored([(draw.choice(pair), None) for pair in pairs], lambda edge, *_: (
            rows.lose_forward(*edge, within=LOST_WITHIN_S)))
        self._say(fault, lost, len(pairs))

    # ---- what they share -----------------------------------------------------------------------

    def _await_mirrors(self):
        """So that they most likely come to what is changed next before it is too late for a loss."""
        def in_time():
            with contextlib.suppress(*_AWAY):
                return self.rig.relations.pending(for_s=1) == 0
        with contextlib.suppress(NotInTime):
            wait_until(in_time, MIRROR_PATIENCE_S, "the mirrors")

    def _edges(self, fault):
        return self.strangers.edges(random.Random(fault.seed), int(fault.target.split()[0]))

    def _lose(self, fault, lose):
        """Changes edges through the API, and has `lose(edge, before, number)` of each that is mirrored
        in time."""
        edges = self._edges(fault)
        before = [(edge, self._insist(lambda edge=edge: self.rig.relations.forward_row(*edge)) if there else None)
                  for edge, there in edges]
        self._await_mirrors()
        client = follows.OverHttp(self.rig.api, [follows.Change(edge, None if there else "all")
                                                 for edge, there in edges], seconds=0)
        client.work()
        self.strangers.expected.update(client.expected)
        lost = self._when_mirrored([(edge, row and (row[0], row[2])) for edge, row in before], lose)
        self._say(fault, lost, len(edges))

    def _when_mirrored(self, edges, lose):
        """How many were lost. Some are not: their shard is away, or their mirror."""
        lost, waiting = 0, list(enumerate(edges))
        end = time.monotonic() + LOST_WITHIN_S
        while waiting and time.monotonic() < end:
            for each in list(waiting):
                number, (edge, before) = each
                with contextlib.suppress(*_AWAY):
                    if self.rig.relations.mirrored(*edge):
                        waiting.remove(each)
                        lost += bool(lose(edge, before, number))
            time.sleep(_AGAIN_S)
        return lost

    @staticmethod
    def _insist(ask):
        """What `ask()` says when its shard is there."""
        answers = []

        def answered():
            with contextlib.suppress(*_AWAY):
                answers.append(ask())
            return answers
        wait_until(answered, PATIENCE_S, "a shard to answer")
        return answers[0]

    def _say(self, fault, lost, edges):
        self.rig.say(f"          {fault.kind}: {lost} of {edges}")
