"""The follows and unfollows are drawn from the seed, and are what the chapter says they are."""

import unittest
from collections import Counter

from demo.changes import Change, Changes, outcome, relation_plan_for
from demo.ledger import Ledger
from demo.workload import Workload

USERS = range(1, 1_001)
EVERYBODYS = 2_000
LIVE, OTHERS = list(USERS[:400]), list(USERS[400:])
FOLLOWERS = {author: {user for user in USERS if user % (author + 2) == 0 and user != author}
             for author in range(1, 41)} | {EVERYBODYS: set(USERS)}
SHARES = [0.1, 0.1, 0.8]
COUNT = 4_000


def changes_of(seed=1):
    return Changes(Workload(seed, FOLLOWERS), Ledger(FOLLOWERS), LIVE, OTHERS)


def follows(edge):
    reader, author = edge
    return reader in FOLLOWERS.get(author, ())


class Operations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lists = changes_of().operations(COUNT, SHARES)
        drawn = [change for changes in cls.lists for change in changes]
        cls.all = [change for change in drawn if not change.delivery]
        cls.mutes = [change for change in drawn if change.delivery]

    def test_are_decided_by_the_seed(self):
        self.assertEqual(self.lists, changes_of().operations(COUNT, SHARES))
        self.assertNotEqual(self.lists, changes_of(seed=2).operations(COUNT, SHARES))

    def test_are_as_many_as_asked_for_and_shared_out(self):
        self.assertEqual(len(self.all), COUNT)
        for changes, share in zip(self.lists, SHARES):
            self.assertAlmostEqual(len(changes) / COUNT, share, delta=0.15)

    def test_a_tenth_of_the_follows_are_muted_and_back(self):
        follows_drawn = sum(change.live for change in self.all)
        self.assertAlmostEqual(len(self.mutes) / 2 / follows_drawn, Changes.MUTED, delta=0.03)
        for changes in self.lists:
            for before, change, after in zip([None, *changes], changes, changes[1:]):
                if change.delivery == "none":
                    self.assertEqual((before.edge, before.live), (change.edge, True))
                    self.assertEqual((after.edge, after.delivery), (change.edge, "all"))

    def test_an_edge_is_one_clients_and_of_two_users(self):
        owners = [{change.edge for change in changes} for changes in self.lists]
        self.assertEqual(sum(map(len, owners)), len(set.union(*owners)))
        self.assertFalse([change for change in self.all if change.reader == change.author])

    def test_most_change_what_is_and_some_ask_for_it_again(self):
        state, repeated = {}, 0
        for change in self.all:
            repeated += state.get(change.edge, follows(change.edge)) == change.live
            state[change.edge] = change.live
        self.assertAlmostEqual(repeated / COUNT, Changes.REPEATED, delta=0.03)

    def test_some_edges_are_hot_and_half_are_new(self):
        times = Counter(change.edge for change in self.all)
        hot = [edge for edge, count in times.items() if count >= Changes.OF_A_HOT_EDGE]
        self.assertEqual(len(hot), 4)
        new = sum(not follows(edge) for edge in times)
        self.assertAlmostEqual(new / len(times), Changes.NEW, delta=0.05)

    def test_live_readers_have_their_share(self):
        edges = {change.edge for change in self.all}
        live = sum(reader in set(LIVE) for reader, _ in edges)
        self.assertAlmostEqual(live / len(edges), Changes.BY_LIVE_READERS, delta=0.1)


class Faults(unittest.TestCase):
    def test_are_of_edges_nobody_else_changes(self):
        changes = changes_of()
        operated = {change.edge for part in changes.operations(500, SHARES) for change in part}
        lost = changes.lost(100)
        broken = changes.broken(50)
        self.assertEqual(len(operated | {change.edge for change in lost} | set(broken)),
                         len(operated) + 150)
        self.assertTrue(all(change.live != follows(change.edge) for change in lost))
        self.assertTrue(all(map(follows, broken)))

    def test_friends_are_strangers_whom_nothing_else_touches(self):
        changes = changes_of()
        lost = {change.edge for change in changes.lost(300)}
        pairs = changes.friends(30, lambda low, high: low % 2 == 0)
        self.assertEqual(len(set(pairs)), 30)
        for low, high in pairs:
            self.assertLess(low, high)
            self.assertEqual(low % 2, 0)
            for edge in ((low, high), (high, low)):
                self.assertFalse(follows(edge) or edge in lost)
        self.assertFalse({edge for pair in pairs for edge in (pair, pair[::-1])} &
                         {change.edge for change in changes.lost(300)})

    def test_lost_changes_are_follows_and_unfollows(self):
        kinds = Counter(change.live for change in changes_of().lost(100))
        self.assertGreater(min(kinds[True], kinds[False]), 25)


    def test_nobody_is_brought_to_the_limit_of_followed_users(self):
        many = {author: {1} for author in range(10, 10 + Changes.MOST_FOLLOWED + 1)}
        followers = many | {5: {1, 2}}
        changes = Changes(Workload(1, followers), Ledger(followers), [1, 2], [1, 2])
        self.assertEqual({change.reader for part in changes.operations(50, SHARES)
                          for change in part}, {2})

    def test_a_tiny_graph_has_what_it_can_give(self):
        followers = {1: {2}, 3: {1, 2}}
        changes = Changes(Workload(1, followers), Ledger(followers), [1], [2])
        lists = changes.operations(50, SHARES)
        self.assertEqual(sum(not change.delivery for part in lists for change in part), 50)
        self.assertEqual(len({change.edge for part in lists for change in part} |
                             {change.edge for change in changes.lost(9)} |
                             set(changes.broken(9))), 3)


class Outcome(unittest.TestCase):
    def test_is_the_last_change_of_each_edge(self):
        self.assertEqual(outcome([Change(1, 2, True), Change(3, 4, True), Change(1, 2, False)]),
                         {(1, 2): False, (3, 4): True})


class Planning(unittest.TestCase):
    def test_is_fifty_thousand_operations_for_epinions_and_larger(self):
        self.assertEqual(relation_plan_for(75_879), (50_000, 300, 300, 1_000, 100, 20, 40, 600, 40))
        self.assertEqual(relation_plan_for(10_000_000), relation_plan_for(75_879))

    def test_is_smaller_for_a_smaller_graph(self):
        self.assertEqual(relation_plan_for(7_588).operations, 5_000)
        self.assertEqual(relation_plan_for(10), (500, 6, 6, 50, 6, 6, 6, 40, 6))
