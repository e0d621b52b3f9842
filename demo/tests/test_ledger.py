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

    def test_lack_what_a_follow_does_not_bring_until_it_does(self):
        ledger = self.ledger()
        all_of_it = ledger.timelines([BOB])
        ledger.choose(BOB, ANN, "none")
        self.assertEqual(ledger.timelines([BOB]), {BOB: []})
        self.assertIn((BOB, ANN), ledger.edges())
        ledger.choose(BOB, ANN, "no_reposts")
        self.assertEqual(ledger.timelines([BOB]), all_of_it)
        ledger.choose(BOB, ANN, "none")
        ledger.unfollow(BOB, ANN)
        ledger.follow(BOB, ANN)
        self.assertEqual(ledger.timelines([BOB]), all_of_it)

    def test_are_shown_without_muted_authors(self):
        ledger = self.ledger()
        ledger.mute(BOB, ANN)
        self.assertEqual(ledger.timelines([BOB], shown=True), {BOB: []})
        self.assertEqual(len(ledger.timelines([BOB])[BOB]), 3)
        ledger.unmute(BOB, ANN)
        self.assertEqual(len(ledger.timelines([BOB], shown=True)[BOB]), 3)

    def test_lose_reposts_that_were_swept_if_their_post_is_deleted(self):
        ledger = self.ledger()
        for post, original in ((11, 9), (12, 10), (13, 9)):
            ledger.apply(Event("published", post, ANN, 4000, repost_of=(original, ANN)))
        ledger.apply(Event("published", 14, ANN, 4000, repost_of=(9, BOB)))  # who did not write it
        ledger.apply(Event("deleted", 9, ANN))
        self.assertEqual(ledger.swept([8, 11, 12, 14, 99]), [11])
        self.assertEqual([post for _, post, _ in ledger.timelines([BOB])[BOB]], [14, 13, 12, 8, 10])

    def test_follow_who_follows_whom(self):
        ledger = self.ledger()
        ledger.unfollow(BOB, ANN)
        ledger.follow(ANN, ANN + 10)
        self.assertEqual(ledger.timelines([BOB])[BOB], [])
        self.assertEqual(ledger.edges(), {(CID, ANN), (ANN, ANN + 10)})
