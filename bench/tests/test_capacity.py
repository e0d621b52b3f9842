import gzip
import math
import tempfile
import unittest
from pathlib import Path

from bench.capacity import said_of
from bench.capacity_plan import (Audience, Constants, Cost, Demand, Lag, Unusable, Work, audience, fit_cost, plan_for,
                                 hints, power_law, read_constants)
from bench.followers_file import read_degrees

COST = Cost(0.4, 90e-6, 5e-6, 3e-6, 10e-6)


def runs_of(cost):
    works = [Work(rate, hints(16, followers), followers, live) for followers, live in ((5, 1), (70, 14), (200, 40), (200, 200))
             for rate in (100, 700)]
    return [(work, cost.cores(work)) for work in works]


class Costs(unittest.TestCase):
    def test_are_found_in_runs_that_follow_them(self):
        for found, wanted in zip(fit_cost(runs_of(COST)), COST, strict=True):
            self.assertAlmostEqual(found / wanted, 1, 4)

    def test_are_never_below_zero(self):
        runs = [(work, cores * (0.9 if number % 2 else 1.1))
                for number, (work, cores) in enumerate(runs_of(Cost(delivery=10e-6)))]
        found = fit_cost(runs)
        self.assertGreaterEqual(min(found), 0)
        self.assertAlmostEqual(found.delivery, 10e-6, delta=1.5e-6)

    def test_of_little_work_count_as_much_as_of_much(self):
        """By absolute differences the heavy runs alone would decide, and idle would cost several cores."""
        cost, light = Cost(0.01, 100e-6, 0, 0, 1e-3), Work(100, 4, 5, 1)
        runs = [(work, cores * ((1.1 if work.events_per_s < 500 else 0.9) if work.live > 100 else 1))
                for work, cores in runs_of(cost)]
        self.assertAlmostEqual(fit_cost(runs).cores(light) / cost.cores(light), 1, delta=0.1)

    def test_are_not_guessed_from_runs_that_do_not_tell_them(self):
        one_size = [Work(rate, 16, 70, 14) for rate in (100, 200, 300, 400, 500)]
        for runs in ([], runs_of(COST)[:4], [(work, COST.cores(work)) for work in one_size]):
            self.assertIsNone(fit_cost(runs))

    def test_are_nothing_where_nothing_was_spent(self):
        self.assertEqual(fit_cost([(work, 0) for work, _ in runs_of(COST)]), Cost())


def report_row(name, value, **more):
    return {"name": name, "value": value, "machine": "2 x it, load 0.1", "cores": 2, "ranges": 16, **more}


def report(*more):
    costs = [report_row("event_cost_some", 1, events_per_second=work.events_per_s, followers=work.followers,
                        live=work.live, cpu_us_per_event=dict.fromkeys(("redis", "kafka"), cores / work.events_per_s * 1e6))
             for work, cores in runs_of(COST)]
    return [report_row("timeline_bytes_compact", 10_400, items=450), *costs, *more]


class Report(unittest.TestCase):
    work = {"events_per_second": 500, "followers": 200, "live": 40}

    def test_holds_what_a_plan_is_made_of(self):
        read = read_constants(report(report_row("latency_half_rate", 170, **self.work),
                                     report_row("latency_half_rate_p99", 300, **self.work),
                                     report_row("latency_tenth_rate", 170, **self.work)), "compact")
        self.assertEqual((read.cores, read.ranges, read.timeline_bytes, read.timeline_items), (2, 16, 10_400, 450))
        self.assertAlmostEqual(read.costs["kafka"].event, COST.event, 8)
        self.assertEqual(read.lags, [(Work(500, 16, 200, 40), Lag(0.17, 0.3))])  # a p50 without its p99 is left out

    def test_is_of_one_machine_and_one_number_of_ranges(self):
        same = report_row("latency_half_rate", 170, **self.work)
        read_constants(report({**same, "machine": "2 x it, load 7"}), "compact")
        for other in ({"machine": "64 x it"}, {"cores": 4}, {"ranges": 4}):
            with self.assertRaisesRegex(Unusable, "latency_half_rate is of another machine or number of ranges than "):
                read_constants(report({**same, **other}), "compact")

    def test_says_what_is_missing(self):
        for rows, encoding, words in (
                ([], "compact", r"it lacks the rows timeline_bytes_compact, event_cost_\*; type make bench, or "),
                (report(), "skiplist", "lacks the rows timeline_bytes_skiplist; type .* timeline_bytes_skiplist,event_cost"),
                ({}, "compact", "it lacks the rows"), ([7], "compact", "not a report of make bench"),
                (report()[:2], "compact", "do not tell on what kafka spends"),
                ([report_row("timeline_bytes_compact", 10_400), *report()[1:]], "compact", "or an older one"),
                ([report_row("timeline_bytes_compact", 10_400, items=0), *report()[1:]], "compact", "not above 0")):
            with self.assertRaisesRegex(Unusable, words):
                read_constants(rows, encoding)


class Followers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "followers.txt"

    def read(self, text):
        self.path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_degrees(self.path)

    def test_of_posts_are_those_of_users_or_weighted_by_them(self):
        self.assertEqual(audience([(0, 6), (10, 1), (20, 1)], 100), Audience(30 / 8, 20))
        self.assertAlmostEqual(audience([(10, 1), (20, 1)], 100, by_followers=True).mean_of_posts, 500 / 30)
        self.assertEqual(audience([(0, 5)], 100, by_followers=True).mean_of_posts, 0)
        with self.assertRaisesRegex(Unusable, "somebody has 2,000 followers, which --users 2,000 cannot be"):
            audience([(2_000, 1)], 2_000)

    def test_of_a_power_law_have_the_mean_and_the_most_that_are_given(self):
        for users, mean, most in ((1e3, 10, 500), (1e6, 70, 1e5), (1e9, 200, 1e8), (1e6, 5, 5)):
            degrees = power_law(users, mean, most)
            found = audience(degrees, users)
            self.assertAlmostEqual(found.mean_of_posts / mean, 1, delta=0.01)
            self.assertEqual(found.most, most)
            self.assertAlmostEqual(sum(count for _, count in degrees) / users, 1, 6)
        for users, mean, most in ((100, 10, 5), (100, 10, 100), (100, 0.5, 10), (10, 1, 100_000)):
            with self.assertRaisesRegex(Unusable, "no power law"):
                power_law(users, mean, most)

    def test_stand_in_a_file_as_counts_or_as_edges(self):
        self.assertEqual(self.read("# followers\n0\n10\n\n20\r\n"), [(0, 1), (10, 1), (20, 1)])
        edges = "# a graph\n0\t1\n2 1\n1 1\n3 0\n"
        self.assertEqual(self.read(edges), [(0, 2), (1, 1), (2, 1)])
        self.assertEqual(self.read(gzip.compress(edges.encode())), [(0, 2), (1, 1), (2, 1)])

    def test_of_a_file_of_anything_else_are_refused_by_line(self):
        for text, words in (("7\n1 2\n", ":2: a file has"), ("1 2\n7\n", ":2: a file has"), ("1 2\nx y\n", ":2: neither"),
                            ("-7\n", ":1: neither"), ("1 2 3\n", ":1: neither"), ("# nothing\n", "names nobody")):
            with self.assertRaisesRegex(Unusable, words):
                self.read(text)


def measured():
    return Constants("a machine", cores=2, ranges=16, timeline_bytes=10_000, timeline_items=450,
                     costs={"redis": Cost(0.05, 4e-6, 2e-6, 0.5e-6, 8e-6), "pusher": Cost(0.05, 14e-6, 1e-6, 1e-6, 1e-6)},
                     lags=[(Work(100, 16, 200, 40), Lag(0.10, 0.20)), (Work(600, 16, 200, 40), Lag(0.20, 0.60))])


def plan(audience_of_posts=100, measurements=None, **wanted):
    return plan_for(Demand(**{"users": 1e6, "live_ratio": 0.2, "live_followers_ratio": 0.5, "posts_per_s": 300,
                              "audience": Audience(audience_of_posts, 1e5), **wanted}), measurements or measured())


class Plans(unittest.TestCase):
    def test_hold_the_timelines_of_the_live_between_window_and_trim(self):
        found = plan()
        self.assertEqual(found.live_timelines, 200_000)
        self.assertAlmostEqual(found.bytes_per_timeline, 10_000 * (450 + 494) / 2 / 450)
        self.assertAlmostEqual(found.maxmemory_bytes, 1.25 * found.redis_bytes)
        self.assertEqual(plan(live_ratio=0).maxmemory_bytes, 64 << 20)  # what an empty Redis would not reach

    def test_count_work_by_the_followers_of_posts(self):
        found = plan()
        self.assertEqual((found.work, found.deliveries_per_s, found.hints_per_s), (Work(300, 16, 100, 50), 15_000, 4_800))
        self.assertAlmostEqual(found.busy_cores, sum(cost.cores(found.work) for cost in measured().costs.values()))

    def test_ask_for_cores_of_which_no_more_are_busy_than_was_said(self):
        found = plan(load=0.1)
        self.assertEqual(found.cores, math.ceil(found.busy_cores / 0.1))
        self.assertEqual(plan(cores=3).cores, 3)
        idle = measured()
        idle.costs = dict.fromkeys(idle.costs, Cost())
        nothing = plan(measurements=idle)
        self.assertEqual((nothing.cores, nothing.masters), (1, 1))
        self.assertIsNotNone(nothing.lag)

    def test_give_each_master_one_core_and_its_share_of_memory(self):
        self.assertEqual(plan().masters, 1)
        found = plan(posts_per_s=30_000)  # about 15 cores of Redis
        self.assertGreater(found.busy["redis"], 1.1 * measured().costs["redis"].cores(found.work._replace(hints=16)))
        self.assertEqual(found.masters, math.ceil(found.busy["redis"] / 0.5))
        self.assertGreaterEqual(found.ranges, 8 * found.masters)
        self.assertAlmostEqual(found.maxmemory_bytes * found.masters, 1.25 * found.redis_bytes, 3)

    def test_take_a_range_for_a_hint_of_each_event(self):
        at_16 = plan().busy_cores
        self.assertAlmostEqual(plan(ranges=32).busy_cores - at_16, 300 * 16 * 3e-6)
        self.assertAlmostEqual(at_16 - plan(ranges=4).busy_cores, 300 * 12 * 3e-6)

    def test_send_hints_of_authors_with_few_followers_only_where_these_are(self):
        self.assertAlmostEqual(plan(audience_of_posts=5, ranges=1024).hints_per_s / 300, 5, delta=0.05)
        self.assertAlmostEqual(plan(audience_of_posts=5, ranges=16).hints_per_s / 300, 4.4, delta=0.05)
        self.assertEqual(plan(audience_of_posts=17, ranges=16).hints_per_s / 300, 16)

    def test_take_the_lag_between_the_loads_that_were_measured(self):
        def at(posts_per_s):
            return plan(audience_of_posts=200, live_followers_ratio=0.2, cores=2, posts_per_s=posts_per_s)

        middle = at(350).lag
        self.assertAlmostEqual(middle.p50, 0.15)
        self.assertAlmostEqual(middle.p99, 0.40)
        self.assertEqual(at(1).lag.p99, 0.20)
        self.assertIsNone(at(601).lag)
        self.assertAlmostEqual(at(601).measured_load, Cost(0.1, 18e-6, 3e-6, 1.5e-6, 9e-6).cores(Work(600, 16, 200, 40)) / 2)
        none = measured()
        none.lags = []
        self.assertIsNone(plan(measurements=none).lag)

    def test_have_the_largest_author_wait_for_the_idle_cores(self):
        found = plan(cores=2)
        self.assertAlmostEqual(found.largest_s, 1e5 * (1.5e-6 + 0.5 * 9e-6) / (2 - found.busy_cores))
        self.assertIsNone(plan(cores=found.busy_cores).largest_s)


class Command(unittest.TestCase):
    def test_refuses_in_one_line_that_says_what_to_do(self):
        wanted = ["--users", "1000", "--posts-per-s", "1", "--live-ratio", "0.1"]
        for more, words in (
                (["--followers-distribution", "fixed:x"], "--followers-distribution: is fixed:N, power-law:MEAN:MOST or"),
                (["--followers-distribution", "nowhere.txt"], "cannot read nowhere.txt"),
                (["--followers-distribution", "fixed:2000"], "somebody has 2,000 followers"),
                (["--followers-distribution", "fixed:5", "--report", "nowhere.json"],
                 "cannot open nowhere.json: .*; type make bench, or ")):
            with self.assertRaisesRegex(Unusable, words):
                said_of([*wanted, *more])
