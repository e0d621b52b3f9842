"""The ledger keeps the rules of docs/producers.md, whatever order events come in."""

import itertools
import unittest

from demo.ledger import Ledger, Visible
from demo.workload import Event

ANN, BOB, CID = 1, 2, 3
PUBLISHED = Event("published", 77, ANN, created_at_ms=1000)
DELETED = Event("deleted", 77, ANN)
HIDDEN = Event("hidden", 77, ANN, version=1)
UNHIDDEN = Event("unhidden", 77, ANN, version=2)
EDITED = Event("edited", 77, ANN, version=9)
THERE, GONE = {Visible(ANN, 77, 1000)}, set()


class Posts(unittest.TestCase):
    def test_events_leave_the_same_in_every_order_and_twice(self):
        for events, outcome in (
            ([PUBLISHED], THERE),
            ([DELETED], GONE),
            ([PUBLISHED, DELETED], GONE),
            ([PUBLISHED, HIDDEN], GONE),
            ([PUBLISHED, HIDDEN, UNHIDDEN], THERE),
            ([PUBLISHED, HIDDEN, UNHIDDEN, EDITED], THERE),
            ([PUBLISHED, HIDDEN, UNHIDDEN, DELETED], GONE),
        ):
            for order in itertools.permutations(events + events[:1]):
                with self.subTest(order=[event.kind for event in order]):
                    ledger = Ledger({})
                    for event in order:
                        ledger.apply(event)
                    self.assertEqual(ledger.visible(), outcome)

    def test_the_first_time_that_arrives_counts(self):
        ledger = Ledger({})
        ledger.apply(PUBLISHED)
        ledger.apply(PUBLISHED._replace(created_at_ms=2000))
        self.assertEqual(ledger.visible(), THERE)


class Timelines(unittest.TestCase):
    def ledger(self):
        ledger = Ledger({ANN: {BOB, CID}})
        for post, created_at_ms in ((9, 1000), (10, 1000), (8, 3000)):
            ledger.apply(Event("published", post, ANN, created_at_ms))
        return ledger

    def test_hold_what_the_followed_published_newest_first_then_the_higher_id(self):
        self.assertEqual(self.ledger().timelines([BOB]),
                         {BOB: [(3000, 8, ANN), (1000, 10, ANN), (1000, 9, ANN)]})

    def test_follow_who_follows_whom(self):
        ledger = self.ledger()
        ledger.unfollow(BOB, ANN)
        ledger.follow(ANN, ANN + 10)
        self.assertEqual(ledger.timelines([BOB])[BOB], [])
        self.assertEqual(ledger.edges(), {(CID, ANN), (ANN, ANN + 10)})
