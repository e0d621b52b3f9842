import unittest

from bench.check import LEAST, recorded, worse


def row(name, ratio, unit="pages/s", **more):
    return {"name": name, "of": name, "unit": unit, "ratio": ratio, "machine": "m", "cores": 2, **more}


class Check(unittest.TestCase):
    def test_a_median_far_below_its_record_is_worse(self):
        rows = [row("a", 0.9, ratio_median=0.42), row("b", 0.43), row("new", 0.1)]
        self.assertEqual(worse(rows, {"a": 0.5, "b": 0.5}, LEAST["full"]), rows[:1])
        self.assertEqual(worse(rows, {"a": 0.5, "b": 0.5}, LEAST["short"]), [])

    def test_a_cost_is_worse_when_it_is_more(self):
        rows = [row("less", 0.5, "CPU ms/post"), row("more", 1.2, "bytes")]
        self.assertEqual(worse(rows, {"less": 1, "more": 1}, LEAST["full"]), rows[1:])

    def test_a_record_has_the_wanted_rows_of_a_report(self):
        rows = [row("a", 0.9, ratio_median=0.42), row("b", 1)]
        self.assertEqual(recorded(rows, ["a"]), {"machine": "m", "cores": 2, "ratios": {"a": 0.42}})
        with self.assertRaisesRegex(SystemExit, "the report lacks c"):
            recorded(rows, ["a", "c"])
