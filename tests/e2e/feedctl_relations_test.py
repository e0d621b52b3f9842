"""The relation store from the command line, on two real shards: an edge as a person on call sees it."""

import json
import re
import unittest

from stack.ports import Ports
from stack.programs.api import Api
from stack.programs.daemon import Daemon
from stack.programs.relations import Relations
from stack.waiting import wait_until
from tests.e2e.feedctl_test import TIMEOUT_S, Installation
from tests.e2e.relations import Tables, shard_of, version


class FeedctlRelations(unittest.TestCase):
    """No daemon but a mirror, where a test starts one. Each test has users of its own."""

    @classmethod
    def setUpClass(cls):
        cls.installation = Installation(cls)
        cls.tables = Tables(cls.installation.stack)
        for words in (["init"], ["topics", "create"]):
            cls.installation.run(*words)

        cls.relations = Relations(cls.installation.stack.mysql)
        cls.ports = Ports()
        cls.addClassCleanup(cls.ports.close)

    def started(self, daemon):
        self.addCleanup(daemon.stop)
        return daemon.start().wait_ready()

    def start_mirror(self):
        self.started(Daemon(self.installation.stack, self.ports, "fanline-mirror", "mirror"))

    def show(self, user, other, code=0):
        result = self.installation.run("relations", "show", user, other, "--json")
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)

    def settled(self, user, other):
        return self.installation.run("relations", "show", user, other).returncode == 0

    def test_an_edge_is_shown_with_what_to_do_when_its_rows_differ(self):
        self.start_mirror()
        self.relations.change(1550, 1551, True)
        self.installation.wait_mirrored()
        well = self.show(1550, 1551)
        self.assertEqual((well["agree"], well["advice"], well["waiting"], well["repairs"]),
                         (True, "both rows agree", [], []))
        self.assertEqual(well["forward"], well["reverse"])
        self.assertTrue(well["forward"]["following"])
        self.assertEqual(self.show(1551, 1550)["forward"], None)

    def follow(self, *words, code=0):
        result = self.installation.run("follow", *words)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout if code == 0 else result.stderr

    def test_a_follow_is_made_and_what_it_brings_is_chosen(self):
        self.start_mirror()

        def delivered():
            self.installation.wait_mirrored()
            edge = self.show(1580, 1581)
            self.assertEqual(edge["forward"], edge["reverse"])
            return edge["forward"]["delivery"]

        self.assertRegex(self.follow(1580, 1581), r"^user 1580 follows user 1581, version \d{16}\n$")
        self.assertEqual(delivered(), "all")
        self.assertRegex(self.follow(1580, 1581, "--delivery", "none"),
                         r"^user 1580 follows user 1581, delivery none, version \d{16}\n$")
        self.assertEqual(delivered(), "none")
        again = json.loads(self.follow(1580, 1581, "--json"))
        self.assertEqual((again["user"], again["other"], again["delivery"], again["changed"]),
                         ("1580", "1581", "none", False))
        self.assertRegex(self.follow(1580, 1581, "--delivery", "all"), r"^user 1580 follows user 1581, version \d{16}\n$")
        self.assertEqual(delivered(), "all")
        new = json.loads(self.follow(1582, 1583, "--delivery", "no_reposts", "--json"))
        self.assertEqual((new["delivery"], new["changed"]), ("no_reposts", True))
        same = json.loads(self.follow(1582, 1583, "--delivery", "no_reposts", "--json"))
        self.assertEqual((same["changed"], same["version"]), (False, new["version"]))

    def test_a_follow_that_cannot_be_says_why(self):
        self.assertIn("nobody follows themselves", self.follow(1584, 1584, code=64))
        self.assertIn("is no user id", self.follow(1584, "Ann", code=64))
        self.assertIn("--delivery", self.follow(1584, 1585, "--delivery", "some", code=64))

    def test_a_delivery_that_nobody_knows_is_mended_as_advised(self):
        self.start_mirror()
        self.follow(1586, 1587)
        self.installation.wait_mirrored()
        self.installation.stack.mysql[shard_of(1586)].query("UPDATE following SET delivery = 7 WHERE src = 1586")
        broken = self.show(1586, 1587, code=1)
        self.assertEqual(broken["forward"]["delivery"], "unknown")
        self.assertIn('PATCH /v1/users/1586/following/1587 with {"delivery":"all"}', broken["advice"])
        self.follow(1586, 1587, "--delivery", "all")
        self.installation.wait_mirrored()
        self.assertEqual(self.show(1586, 1587)["reverse"]["delivery"], "all")

    def test_a_change_waits_for_a_mirror(self):
        self.relations.change(1552, 1553, True)
        waiting = self.show(1552, 1553, code=1)
        self.assertEqual([(change["kind"], change["version"]) for change in waiting["waiting"]],
                         [("edge", waiting["forward"]["version"])])
        self.assertIn("waits in log1 for a running fanline-mirror", waiting["advice"])
        self.assertIn("DIFFER          a change of it waits",
                      self.installation.run("relations", "show", 1552, 1553).stdout)
        self.start_mirror()
        wait_until(lambda: self.settled(1552, 1553), TIMEOUT_S, "the reverse row")

    def test_what_is_advised_about_broken_rows_mends_them(self):
        """Follows the advice word by word; then the rows agree."""
        self.start_mirror()
        client = self.started(Api(self.installation.stack, self.ports)).client()
        self.addCleanup(client.close)
        ver = version()
        for user, forward, reverse, follows in [
                (1560, (ver, True), None, True),             # the reverse row is missing
                (1562, (ver, False), (ver - 9, True), False),  # an unfollow was lost
                (1564, (ver, True), (ver, False), True),     # corrupt
                (1566, None, (ver, True), True),             # the forward row is lost
                (1568, (ver - 9, True), (ver, False), False)]:
            with self.subTest(user):
                if forward:
                    self.tables.put_forward((user, user + 1, *forward))
                if reverse:
                    self.tables.put_reverse((user, user + 1, *reverse))
                broken = self.show(user, user + 1, code=1)
                self.assertFalse(broken["agree"])
                requests = re.findall(r"(PUT|DELETE) (/v1/users/\d+/following/\d+)", broken["advice"])
                self.assertTrue(requests, broken["advice"])
                for method, path in requests:
                    self.assertEqual(client.ask(method, path).status, 200)
                self.installation.wait_mirrored()
                mended = self.show(user, user + 1)
                self.assertEqual(mended["forward"]["following"], follows)
