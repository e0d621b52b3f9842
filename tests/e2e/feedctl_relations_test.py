"""The relation store from the command line, on two real shards: friendships, lists, and an
edge as a person on call sees it."""

import json
import re
import unittest

from stack.ports import Ports
from stack.programs.daemon import Daemon
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

    def run_well(self, *words, **settings):
        result = self.installation.run(*words, **settings)
        self.assertEqual(result.returncode, 0, (words, result.stderr))
        return result.stdout

    def json(self, *words, **settings):
        return json.loads(self.run_well(*words, "--json", **settings))

    def follow(self, *edges):
        """Each, with what a mirror does about it."""
        self.start_mirror()
        for reader, author in edges:
            self.run_well("follow", "--reader", reader, "--author", author)
        self.installation.wait_mirrored()

    def start_mirror(self):
        ports = Ports()
        self.addCleanup(ports.close)
        mirror = Daemon(self.installation.stack, ports, "fanline-mirror", "mirror")
        self.addCleanup(mirror.stop)
        mirror.start().wait_ready()

    def friends(self, action, user, other):
        return self.json("friends", action, "--user", user, "--other", other)

    def refused(self, code, *words, **settings):
        """What it complained about."""
        result = self.installation.run(*words, **settings)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stderr

    def show(self, user, other, code=0):
        result = self.installation.run("relations", "show", user, other, "--json")
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)

    def settled(self, user, other):
        return self.installation.run("relations", "show", user, other).returncode == 0

    def listed(self, name, user, *words):
        page = self.json("relations", "list", name, user, *words)
        return [int(item["id"]) for item in page["items"]]

    def test_a_friendship_lives_from_its_request_to_its_end(self):
        asked = self.friends("request", 1500, 1501)
        self.assertEqual({**asked, "version": 0},
                         {"user": "1500", "other": "1501", "state": "requested", "version": 0,
                          "asked_by": "1500", "changed": True})
        self.assertEqual(self.friends("request", 1500, 1501), {**asked, "changed": False})
        said = self.refused(65, "friends", "accept", "--user", 1500, "--other", 1501)
        self.assertEqual(said, "feedctl: a request is answered by the one who was asked: user 1500 "
                               "has asked user 1501; user 1500 may cancel; user 1501 may accept or "
                               "refuse\n")
        accepted = self.friends("accept", 1501, 1500)
        self.assertEqual((accepted["state"], accepted["changed"]), ("friends", True))
        waiting = self.show(1500, 1501, 1)
        self.assertEqual([change["kind"] for change in waiting["waiting"]],
                         ["edge", "friendship"])  # the edge's announcement before it
        self.assertIn("waits in log1 for a running fanline-mirror", waiting["advice"])
        self.assertEqual(self.listed("friends", 1500), [])

        self.start_mirror()
        for user, other in ((1500, 1501), (1501, 1500)):
            wait_until(lambda: self.listed("friends", user) == [other], TIMEOUT_S, "the edges")
            # The rows are there a moment before what told of them is marked done.
            wait_until(lambda: self.settled(user, other), TIMEOUT_S, "what waits to be done")
            self.assertEqual(self.show(user, other)["forward"], self.show(user, other)["reverse"])
        self.assertEqual(self.show(1500, 1501)["friendship"],
                         {"state": "friends", "version": accepted["version"], "asked_by": "1500"})
        self.assertRegex(
            self.run_well("friends", "remove", "--user", 1500, "--other", 1501),
            r"^users 1500 and 1501 are no longer friends: changed, version \d+\n"
            r"a running fanline-mirror ends both edges\nnext: either may request\n$")
        wait_until(lambda: self.listed("following", 1500) + self.listed("followers", 1500) == [],
                   TIMEOUT_S, "the edges to end")
        said = self.refused(65, "friends", "remove", "--user", 1500, "--other", 1502)
        self.assertEqual(said, "feedctl: they are not friends: users 1500 and 1502 are no friends, "
                               "and neither has asked; either may request\n")

    def test_a_request_is_refused_or_cancelled(self):
        for action, user, state in (("refuse", 1511, "refused"), ("cancel", 1510, "cancelled")):
            self.friends("request", 1510, 1511)
            ended = self.friends(action, user, 1510 + 1511 - user)
            self.assertEqual((ended["state"], ended["changed"]), (state, True))
            self.assertIn("there is no request to answer",
                          self.refused(65, "friends", "accept", "--user", 1511, "--other", 1510))

    def test_pages_of_a_list_stay_in_place_while_it_changes(self):
        ver = version()
        edges = [(1520, other, ver + 1000 * other, True) for other in range(1521, 1526)]
        self.tables.put_forward(*edges)
        self.tables.put_reverse(*edges)
        first = self.json("relations", "list", "following", 1520, "--limit", 2)
        self.assertEqual([item["id"] for item in first["items"]], ["1525", "1524"])
        self.assertEqual((first["following"], first["followers"]), (5, 0))
        self.assertEqual(first["items"][0]["since_ms"], edges[-1][2] // 1000)
        self.run_well("unfollow", "--reader", 1520, "--author", 1524)
        self.tables.put_forward((1520, 1529, ver + 10**9, True))
        second = self.json("relations", "list", "following", 1520, "--limit", 2, "--cursor",
                           first["next_cursor"])
        self.assertEqual([item["id"] for item in second["items"]], ["1523", "1522"])
        last = self.json("relations", "list", "following", 1520, "--limit", 2, "--cursor",
                         second["next_cursor"])
        self.assertEqual(([item["id"] for item in last["items"]], last["next_cursor"]),
                         (["1521"], None))
        self.assertEqual(self.listed("following", 1520), [1529, 1525, 1523, 1522, 1521])
        self.assertEqual(self.listed("followers", 1521), [1520])

    def test_a_list_says_how_a_third_user_stands_to_each(self):
        self.follow((1530, 1531), (1530, 1532), (1530, 1533), (1539, 1531), (1532, 1539), (1539, 1532))
        page = self.json("relations", "list", "following", 1530, "--relation-to", 1539)
        self.assertEqual({item["id"]: item["relation"] for item in page["items"]},
                         {"1531": "following", "1532": "mutual", "1533": "none"})
        self.assertEqual(self.listed("friends", 1539), [1532])
        shown = self.run_well("relations", "list", "followers", 1532, "--relation-to", 1531)
        self.assertRegex(shown, r"^user 1532: following 1, followers 2\n"
                                r"user +since +relation of 1531\n"
                                r"1539 +2\S+Z  follower\n1530 +2\S+Z  follower\n$")
        self.assertEqual(self.run_well("relations", "list", "followers", 1530),
                         "user 1530: following 3, followers 0\nnobody to show\n")

    def test_an_edge_is_shown_with_what_to_do_when_its_rows_differ(self):
        self.follow((1550, 1551))
        well = self.show(1550, 1551)
        self.assertEqual((well["agree"], well["advice"], well["waiting"], well["repairs"]),
                         (True, "both rows agree", [], []))
        self.assertEqual(well["forward"], well["reverse"])
        self.assertTrue(well["forward"]["following"])
        self.assertEqual(self.show(1551, 1550)["forward"], None)

    def test_a_change_waits_for_a_mirror(self):
        made = self.json("follow", "--reader", 1552, "--author", 1553)
        waiting = self.show(1552, 1553, code=1)
        self.assertEqual([(change["kind"], change["version"]) for change in waiting["waiting"]],
                         [("edge", made["version"])])
        self.assertIn("waits in log1 for a running fanline-mirror", waiting["advice"])
        self.assertIn("DIFFER          a change of it waits",
                      self.installation.run("relations", "show", 1552, 1553).stdout)
        self.start_mirror()
        wait_until(lambda: self.settled(1552, 1553), TIMEOUT_S, "the reverse row")

    def test_what_is_advised_about_broken_rows_mends_them(self):
        """Follows the advice word by word; then the rows agree."""
        self.start_mirror()
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
                commands = re.findall(r"feedctl (\w+) (--reader \d+) (--author \d+)",
                                      broken["advice"])
                self.assertTrue(commands, broken["advice"])
                for name, reader, author in commands:
                    self.run_well(name, *reader.split(), *author.split())
                self.installation.wait_mirrored()
                mended = self.show(user, user + 1)
                self.assertEqual(mended["forward"]["following"], follows)

    def test_repairs_of_an_edge_are_shown_newest_first(self):
        self.follow((1570, 1571))
        self.installation.stack.mysql[shard_of(1570)].query(
            "INSERT INTO repair_log (net, cause, src, dst, before_value, after_value, ver) VALUES "
            "('pair','missing',1570,1571,'none','follows@7',7), "
            "('pair','stale',1570,1571,'follows@7','ended@8',8), "
            "('pair','stale',1570,1572,'none','ended@9',9)")
        self.assertEqual([(repair["cause"], repair["before"], repair["after"], repair["version"])
                          for repair in self.show(1570, 1571)["repairs"]],
                         [("stale", "follows@7", "ended@8", "8"),
                          ("missing", "none", "follows@7", "7")])


if __name__ == "__main__":
    unittest.main()
