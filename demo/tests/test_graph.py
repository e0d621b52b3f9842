"""Edge lists as people have them."""

import gzip
import tempfile
import unittest
from pathlib import Path

from demo.graph import BadGraph, read_graph


class ReadGraph(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = Path(holder.name) / "edges.txt"

    def read(self, text, **options):
        self.path.write_text(text)
        return read_graph(self.path, **options)

    def test_reads_who_follows_whom_past_comments_and_blank_lines(self):
        graph = self.read("# from to\n\n1\t2\n3 2\n 2  1\n")
        self.assertEqual(graph.followers, {2: {1, 3}, 1: {2}})
        self.assertEqual((graph.users, graph.edges), ([1, 2, 3], 3))

    def test_shifts_every_id_by_the_offset(self):
        self.assertEqual(self.read("0 1\n", id_offset=1).followers, {2: {1}})

    def test_counts_an_edge_once_and_nobody_as_their_own_follower(self):
        graph = self.read("1 2\n1 2\n3 3\n")
        self.assertEqual((graph.followers, graph.edges, graph.users), ({2: {1}}, 1, [1, 2, 3]))

    def test_reads_gzip_by_what_is_in_the_file(self):
        self.path.write_bytes(gzip.compress(b"1 2\n"))
        self.assertEqual(read_graph(self.path).edges, 1)

    def test_says_which_line_is_no_edge(self):
        with self.assertRaisesRegex(BadGraph, r"edges.txt:2: not `from to`"):
            self.read("1 2\nann bob\n")
        with self.assertRaisesRegex(BadGraph, r"edges.txt:1: not `from to`"):
            self.read("1 2 3\n")
        with self.assertRaisesRegex(BadGraph, r"edges.txt:1: id 0 is not above 0; raise --id-"):
            self.read("0 1\n")

    def test_says_what_is_wrong_with_the_file(self):
        with self.assertRaisesRegex(BadGraph, "holds no edge"):
            self.read("# nothing\n")
        with self.assertRaisesRegex(BadGraph, "none.txt: No such file"):
            read_graph(self.path.with_name("none.txt"))
