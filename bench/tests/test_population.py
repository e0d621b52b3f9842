import unittest
from collections import Counter

from bench.population import QUICK, Authors, Population


class PopulationTest(unittest.TestCase):
    def test_is_the_same_in_every_run(self):
        self.assertEqual(list(QUICK.edges()), list(QUICK.edges()))

    def test_every_author_has_that_many_followers_each_once(self):
        edges = list(QUICK.edges())
        self.assertEqual(len(edges), len(set(edges)))
        followers = Counter(author for _, author in edges)
        for block in QUICK.authors.values():
            for author in range(block.first, block.first + block.count):
                self.assertEqual(followers[author], block.followers)

    def test_the_share_of_a_block_is_the_share_of_live_readers(self):
        population = Population(live=1_000, authors={
            "live20": Authors(first=10, count=100, followers=100, live_percent=20)})
        live = sum(population.is_live(reader) for reader, _ in population.edges())
        self.assertAlmostEqual(live / 10_000, 0.2, delta=0.02)
