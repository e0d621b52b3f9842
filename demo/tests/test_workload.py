"""The demo's events are drawn from its seed, and are what the demo says they are."""

import json
import unittest
from collections import Counter

from demo.workload import Event, Workload, count_distinct, plan_for, split

FOLLOWERS = {author: set(range(100, 100 + author)) for author in range(1, 40)}
EVERYBODYS, TENTHS = 500, 501
NOW = 1_700_000_000_000
SPECIAL = ((EVERYBODYS, 5), (TENTHS, 30))


def draw(seed=1, count=2_000):
    workload = Workload(seed, FOLLOWERS)
    workload.history(500, NOW)
    return workload.events(count, NOW, SPECIAL)


class Drawing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sendings = draw()
        cls.events = [sending.event for sending in cls.sendings if not sending.again]

    def of_kind(self, kind):
        return [event for event in self.events if event.kind == kind]

    def test_is_decided_by_the_seed(self):
        self.assertEqual(self.sendings, draw())
        self.assertNotEqual(self.sendings, draw(seed=2))

    def test_makes_as_many_distinct_events_as_asked_for(self):
        self.assertEqual(len(self.events), 2_000)
        self.assertEqual(len(set(self.events)), 2_000)
        self.assertEqual(count_distinct(self.sendings), 2_000)

    def test_delivers_some_again_and_never_before_the_first_time(self):
        seen = set()
        for event, again in self.sendings:
            self.assertEqual(again, event in seen)
            seen.add(event)
        self.assertEqual(sum(sending.again for sending in self.sendings), 30)

    def test_gives_special_authors_exactly_their_posts(self):
        by = Counter(event.author for event in self.of_kind("published"))
        self.assertEqual((by[EVERYBODYS], by[TENTHS]), (5, 30))

    def test_lets_the_followed_post_more(self):
        by = Counter(event.author for event in self.of_kind("published"))
        many, few = (sum(by[author] for author in range(low, low + 10)) for low in (30, 1))
        self.assertGreater(many, 3 * few)  # 345 followers to 55

    def test_holds_deletes_hides_and_edits_of_posts_that_exist(self):
        self.assertEqual(len(self.of_kind("deleted")), 41)
        self.assertEqual(len(self.of_kind("hidden")), 20)
        self.assertEqual(len(self.of_kind("unhidden")), 10)
        self.assertEqual(len(self.of_kind("edited")), 20)
        hidden = {event.post for event in self.of_kind("hidden")}
        self.assertLess({event.post for event in self.of_kind("unhidden")}, hidden)
        self.assertLessEqual({EVERYBODYS, TENTHS}, {e.author for e in self.of_kind("deleted")})

    def test_reposts_with_a_tenth_mostly_one_post_which_is_deleted_in_the_end(self):
        reposts = [event for event in self.of_kind("published") if event.repost_of]
        self.assertEqual(len(reposts), 200)
        self.assertFalse({event.author for event in reposts} & {EVERYBODYS, TENTHS})
        (popular, times), = Counter(event.repost_of for event in reposts).most_common(1)
        self.assertGreater(times, 100)
        self.assertGreater(200 - times, 10)
        last = [event.kind for event in self.events].index("published", 1_800)
        self.assertGreater(self.events.index(Event("deleted", *popular)), last)
        self.assertFalse({event.post for event in reposts} & {event.repost_of[0] for event in reposts})

    def test_brings_some_deletes_before_their_publish_and_most_after(self):
        place = {}
        for number, event in enumerate(self.events):
            place[event.kind, event.post] = number
        pairs = [(place["published", e.post], place["deleted", e.post])
                 for e in self.of_kind("deleted") if ("published", e.post) in place]
        early = sum(deleted < published for published, deleted in pairs)
        self.assertGreater(early, 0)
        self.assertLess(early, len(pairs) / 2)

    def test_brings_some_posts_long_after_they_were_made(self):
        times = [event.created_at_ms for event in self.of_kind("published")]
        newest, late = 0, 0
        for time in times:
            late += newest - time > 50
            newest = max(newest, time)
        self.assertGreater(late, 10)
        self.assertLess(late, 100)

    def test_never_gives_a_post_id_twice(self):
        workload = Workload(1, FOLLOWERS)
        events = [sending.event for sending in workload.events(200, NOW) if not sending.again]
        posts = [event.post for event in workload.history(50, NOW) + events
                 if event.kind == "published"]
        self.assertEqual(len(posts), len(set(posts)))

    def test_puts_the_past_into_the_past_in_order(self):
        times = [event.created_at_ms for event in Workload(1, FOLLOWERS).history(100, NOW, days=2)]
        self.assertEqual(times, sorted(times))
        self.assertTrue(all(NOW - 2 * 86_400_000 <= time <= NOW for time in times))

    def test_draws_edges_of_the_readers_asked_for(self):
        following = {1: [10, 11], 2: [12]}
        workload = Workload(1, FOLLOWERS)
        self.assertEqual(sorted(workload.edges([1, 2], following, 9)), [(1, 10), (1, 11), (2, 12)])
        self.assertEqual(len(workload.edges([1, 2], following, 2)), 2)


class Splitting(unittest.TestCase):
    def test_loses_nothing_and_keeps_the_order(self):
        sendings = draw()
        parts = split(sendings, (0.5, 0.2, 0.3))
        self.assertEqual([sending for part in parts for sending in part], sendings)
        self.assertEqual([count_distinct(part) for part in parts], [1000, 400, 600])


class Encoding(unittest.TestCase):
    def test_is_what_producers_are_told_to_send(self):
        self.assertEqual(json.loads(Event("published", 77, 5, created_at_ms=9).encode()), {
            "schema_version": 1, "type": "post.published", "post_id": "77", "author_id": "5",
            "created_at_ms": 9})
        self.assertEqual(json.loads(Event("published", 77, 5, 9, repost_of=(70, 6)).encode())["repost_of"],
                         {"post_id": "70", "author_id": "6"})
        self.assertEqual(json.loads(Event("hidden", 77, 5, version=3).encode()), {
            "schema_version": 1, "type": "post.hidden", "post_id": "77", "author_id": "5",
            "version": 3})
        self.assertEqual(json.loads(Event("deleted", 77, 5).encode()), {
            "schema_version": 1, "type": "post.deleted", "post_id": "77", "author_id": "5"})


class Planning(unittest.TestCase):
    def test_is_the_whole_demo_for_the_epinions_graph(self):
        plan = plan_for(75_879)
        self.assertEqual((plan.history, plan.events, plan.by_everybodys, plan.by_tenths),
                         (5_000, 20_000, 20, 600))
        self.assertEqual((plan.live, plan.unfollows, plan.least_trimmed), (15_175, 1_000, 1_000))

    def test_is_smaller_for_a_smaller_graph_and_still_overflows(self):
        plan = plan_for(500)
        self.assertEqual((plan.live, plan.by_tenths, plan.least_trimmed), (100, 600, 6))
        self.assertEqual((plan.history, plan.events, plan.unfollows), (500, 2_000, 10))
        self.assertEqual((plan_for(3).live, plan_for(3).least_trimmed), (1, 0))

    def test_is_bounded_for_a_larger_graph(self):
        self.assertEqual(plan_for(10_000_000), plan_for(100_000))
