"""An import while pushers run, or begin to: whoever reads gets what was published before by whom he
follows now, whatever else the import finds wrong."""

import json
import unittest

from stack.programs.feedctl import FeedctlFailed
from tests.e2e.installation import Installation
from tests.e2e.relations import Tables, version

RANGES = 4


class Imports(Installation):
    ranges = RANGES

    def graph(self, edges):
        path = self.stack.logs / "more.txt"
        path.write_text("".join(f"{reader} {author}\n" for reader, author in edges))
        return path

    def note(self, edges):
        for reader, author in edges:
            self.ledger.follow(reader, author)

    def test_every_edge_is_hinted_also_those_that_fill_no_append(self):
        edges = [(reader, 9_001) for reader in range(8_001, 8_451)]
        done = self.counter("fanline_hints_done_total")
        said = self.feedctl.json("import", self.graph(edges), "--json")
        self.note(edges)
        self.assertEqual((said["edges"], said["hints"]), (450, 450))
        self.settle()
        self.assertEqual(self.counter("fanline_hints_done_total"), done + 450)

    def test_who_owns_a_range_is_asked_when_the_load_is_done(self):
        """A pusher that claims its ranges during the load serves readers before its end."""
        edges = [(reader, 9_101) for reader in range(8_101, 8_111)]
        self.fleet.pushers[0].stop()
        for shard in self.stack.mysql:
            shard.query("DELETE FROM range_owner")
        one, other = [shard.client() for shard in self.stack.mysql]
        with one, other:
            for client in (one, other):
                client.query("LOCK TABLES follower WRITE")
            loading = self.feedctl.start("import", self.graph(edges), "--json")
            waiting = ("SELECT 1 FROM information_schema.processlist "
                       "WHERE info LIKE '%follower%' AND state LIKE 'Waiting for table%'")
            self.wait_for(lambda: any(shard.query(waiting) for shard in self.stack.mysql),
                          "the load to wait for the tables")
            self.fleet.pushers[0].start()
            self.fleet.wait_serving()
            for client in (one, other):
                client.query("UNLOCK TABLES")
        said = json.loads(loading.finish(120))
        self.note(edges)
        self.assertEqual((said["edges"], said["hints"]), (len(edges), len(edges)))

    def test_what_was_loaded_is_hinted_though_the_shards_disagree(self):
        reader, author = 8_200, 9_200
        first = [(reader, 9_201)]
        self.feedctl.run("import", self.graph(first))
        self.note(first)
        again = self.feedctl.json("import", self.graph(first), "--json")
        self.assertEqual((again["already_there"], again["hints"]), (1, 1),
                         "an import that was killed before its hints is run again")
        self.settle()
        self.make_live([reader])
        post = self.publish(author)
        self.settle()
        self.assertEqual(self.posts_of(reader), [])
        stray = (7_001, 7_002, version(), True)
        Tables(self.stack).put_forward(stray)
        with self.assertRaisesRegex(FeedctlFailed, "ended with 65: .*forward and .* reverse edges"):
            self.feedctl.run("import", self.graph([(reader, author)]))
        self.note([(reader, author), stray[:2]])
        self.settle()
        self.assertEqual(self.posts_of(reader), [post])
        Tables(self.stack).put_reverse(stray)
        self.assert_exact()
