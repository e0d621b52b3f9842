"""A timeline is exact, or the verdict says what is wrong with it."""

import unittest

from demo.check import check_timelines, compare, complaint_of_lost
from demo.ledger import Ledger
from demo.workload import Event
from stack.programs.timelines import Timeline, member_of, parse

WANTED = [(3000, 8, 1), (1000, 10, 1), (1000, 9, 1)]


class Compare(unittest.TestCase):
    def verdict(self, items, floor=0):
        return compare(Timeline(1, items, floor), WANTED)

    def test_exact_is_exact(self):
        self.assertTrue(self.verdict(WANTED).exact)

    def test_names_what_is_missing_and_what_is_extra(self):
        verdict = self.verdict([(3000, 8, 1), (2000, 5, 1), (1000, 9, 1)])
        self.assertEqual((verdict.missing, verdict.extra), ([(1000, 10, 1)], [(2000, 5, 1)]))
        self.assertFalse(verdict.exact)

    def test_judges_only_what_is_newer_than_the_floor(self):
        self.assertTrue(self.verdict([(3000, 8, 1)], floor=1000).exact)
        self.assertTrue(self.verdict([(3000, 8, 1), (1000, 77, 1)], floor=1000).exact)
        self.assertEqual(self.verdict([], floor=1000).missing, [(3000, 8, 1)])

    def test_the_order_counts(self):
        verdict = self.verdict([(3000, 8, 1), (1000, 9, 1), (1000, 10, 1)])
        self.assertEqual((verdict.missing, verdict.extra, verdict.exact), ([], [], False))


class Lost(unittest.TestCase):
    def test_is_judged_by_those_that_were_to_last(self):
        lasting = set(range(100))
        self.assertIsNone(complaint_of_lost(lasting, lasting - {1, 2}, 0.98, "then"))
        self.assertEqual(complaint_of_lost(lasting, lasting - {1, 2, 3} | {200, 201}, 0.98, "then"),
                         "only 97 timelines were live then, of at least 98")


class CheckTimelines(unittest.TestCase):
    def setUp(self):
        self.ledger = Ledger({1: {2, 3}})
        self.ledger.apply(Event("published", 77, 1, 1000))

    def test_answers_only_those_that_are_wrong(self):
        right, wrong = Timeline(2, [(1000, 77, 1)], 0), Timeline(3, [], 0)
        verdicts = check_timelines({2: right, 3: wrong}, self.ledger)
        self.assertEqual({reader: v.missing for reader, v in verdicts.items()}, {3: [(1000, 77, 1)]})

    def test_one_that_is_still_being_built_is_wrong(self):
        self.assertIn(2, check_timelines({2: Timeline(2, [(1000, 77, 1)], None)}, self.ledger))


class Parse(unittest.TestCase):
    LARGE = 2**64 - 2

    def test_tells_items_from_sentinels(self):
        ten, nine = member_of(10, 7), member_of(9, self.LARGE)
        self.assertEqual(ten, b"\1\xff\xff\xff\xff\xff\xff\xff\xf5\7")
        self.assertEqual(parse(7, ["T", "-inf", ten, "-3000", nine, "-1000", "F", "-500"]),
                         Timeline(7, [(3000, 10, 7), (1000, 9, self.LARGE)], 500))
        self.assertEqual(parse(7, ["T", "-inf", "F", "inf"]), Timeline(7, [], 0))
        self.assertEqual(parse(7, ["T", "-inf", nine, "-1", "B:x", "inf", b"X" + nine, "inf"]),
                         Timeline(7, [(1, 9, self.LARGE)], None))

    def test_an_item_may_be_text_for_once(self):
        text = member_of(~0x0101010101010101 % 2**64, 65).decode()
        self.assertEqual(parse(7, [text, "-1", "F", "inf"]).items, [(1, ~0x0101010101010101 % 2**64, 65)])
