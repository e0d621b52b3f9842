"""Follows and unfollows of several clients, drawn from the demo's seed: who changes which edge in
which order, and what must stand at the end.

An edge belongs to one client, which makes its changes one after the other, so the last one is what
must hold, whatever happens to the messages in between.
"""

import itertools
from collections import Counter
from typing import NamedTuple

from demo.workload import REFERENCE_USERS


class Change(NamedTuple):
    reader: int
    author: int
    live: bool  # follows from now on; else no longer
    delivery: str = None  # what this follow, which is there, brings from now on; None: as before

    @property
    def edge(self):
        return self.reader, self.author


class RelationPlan(NamedTuple):
    """How much of everything."""
    operations: int  # by the clients, all together
    lost: int  # further ones whose messages nobody applies
    broken: int  # reverse rows broken by hand
    posts: int  # published meanwhile
    unsaid: int  # further ones whose rows of log1 are marked before anybody reads them
    forgotten: int  # further ones whose rows of log1 are deleted before anybody reads them
    old: int  # edges of the graph whose rows are edited
    tail: int  # further ones that a shard and no replica of it has
    friends: int  # pairs, accepted in the same moment


def relation_plan_for(users):
    """For a graph as large as Epinions or larger; in proportion for a smaller one."""
    share = min(1.0, users / REFERENCE_USERS)
    return RelationPlan(operations=max(500, round(50_000 * share)), lost=max(6, round(300 * share)),
                        broken=max(6, round(300 * share)), posts=max(50, round(1_000 * share)),
                        unsaid=max(6, round(100 * share)),
                        forgotten=max(6, round(20 * share)), old=max(6, round(40 * share)), tail=max(40, round(600 * share)),
                        friends=max(6, round(40 * share)))


class Changes:
    """Draws changes, and never gives out an edge twice."""

    HOT = 0.1  # of the operations fall on few edges,
    OF_A_HOT_EDGE = 100  # so many on each
    OF_AN_EDGE = 2  # on each of the others, on average
    BY_LIVE_READERS = 0.6  # of the edges
    NEW = 0.5  # of the edges are none before
    REPEATED = 0.1  # of the operations ask for what is so already
    MUTED = 0.1  # of the follows are muted and back
    MOST_FOLLOWED = 4_500  # by a reader who changes anything; 5,000 are allowed
    TRIES = 100

    def __init__(self, workload, ledger, live, others):
        """`live`, `others`: readers with a live timeline, and without. `workload` and `ledger` as
        they are when the chapter begins; edges are those of the ledger."""
        self._random = workload.random
        self._followers = ledger.followers
        self._live, self._others = live, others or live
        self._authors = sorted(ledger.followers)
        self._weights = list(itertools.accumulate(len(ledger.followers[author]) + 1
                                                  for author in self._authors))
        self._live_set = set(live)
        self._sorted = {}  # author -> followers, of those drawn so far
        self._given = set()
        following = Counter()
        for followers in ledger.followers.values():
            following.update(followers)
        self._full = {reader for reader, count in following.items() if count > self.MOST_FOLLOWED}

    def operations(self, count, shares):
        """A list of Changes per client, mutes beside `count`; `shares`: how much of all falls to
        each."""
        hot = (self._edges(max(1, round(count * self.HOT) // self.OF_A_HOT_EDGE)) or
               self._edges(1, new_share=0))
        slots = [hot[n % len(hot)] for n in range(round(count * self.HOT))]
        rest = count - len(slots)
        edges = self._edges(rest // self.OF_AN_EDGE) or hot
        slots += edges + self._random.choices(edges, k=rest - len(edges))
        self._random.shuffle(slots)
        owner = {edge: self._random.choices(range(len(shares)), weights=shares)[0]
                 for edge in dict.fromkeys(hot + edges)}
        state = {}
        lists = [[] for _ in shares]
        for edge in slots:
            before = state.get(edge, self._follows(edge))
            state[edge] = before if self._random.random() < self.REPEATED else not before
            lists[owner[edge]].append(Change(*edge, state[edge]))
            if state[edge] and self._random.random() < self.MUTED:
                lists[owner[edge]] += [Change(*edge, True, choice) for choice in ("none", "all")]
        return lists

    def lost(self, count):
        """Changes of edges that nothing else changes."""
        return [Change(*edge, not self._follows(edge)) for edge in self._edges(count)]

    def broken(self, count):
        """Edges that exist and that nothing else changes."""
        return self._edges(count, new_share=0)

    def friends(self, count, among):
        """Pairs (smaller id, larger) of whom neither follows the other; `among(low, high)`: which of them."""
        readers = self._random.sample(self._live + self._others, min(len(self._live + self._others), 20 * count))
        pairs = (tuple(sorted(pair)) for pair in zip(readers[::2], readers[1::2])
                 if not self._full & set(pair))
        strangers = (pair for pair in pairs if among(*pair) and not any(
            edge in self._given or self._follows(edge) for edge in (pair, pair[::-1])))
        found = list(itertools.islice(strangers, count))
        self._given |= {edge for pair in found for edge in (pair, pair[::-1])}
        return found

    def _edges(self, count, new_share=NEW):
        """Up to `count` edges: the graph may have fewer."""
        drawn = (self._edge(self._random.random() < new_share) for _ in range(count))
        return [edge for edge in drawn if edge]

    def _edge(self, new):
        """An edge not given out yet, in BY_LIVE_READERS of the draws a live reader's, if there
        are any. None: the graph seems to have none left."""
        live = self._random.random() < self.BY_LIVE_READERS
        draw = self._new_edge if new else self._old_edge
        for among_live in [live] * self.TRIES + [not live] * self.TRIES:
            edge = draw(among_live)
            if edge and edge not in self._given and edge[0] not in self._full:
                self._given.add(edge)
                return edge
        return None

    def _new_edge(self, live):
        edge = self._random.choice(self._live if live else self._others), self._author()
        return None if edge[0] == edge[1] or self._follows(edge) else edge

    def _old_edge(self, live):
        author = self._author()
        followers = self._sorted.get(author)
        if followers is None:
            followers = self._sorted[author] = sorted(self._followers[author])
        if not followers:
            return None
        reader = self._random.choice(followers)
        return (reader, author) if (reader in self._live_set) == live else None

    def _author(self):
        return self._random.choices(self._authors, cum_weights=self._weights)[0]

    def _follows(self, edge):
        reader, author = edge
        return reader in self._followers.get(author, ())


def outcome(changes):
    """Edge -> whether it must be at the end, of one client's changes in their order."""
    return {change.edge: change.live for change in changes}
