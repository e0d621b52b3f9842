"""One daemon after the other is restarted on tables that a later feedctl has migrated, while an application posts, deletes,
follows and unfollows. At the end every timeline, both directions of the relations and all counters are exact."""

import random
import unittest
from http.client import HTTPException

from stack.programs import BIN
from stack.programs.api import Api
from stack.programs.backlog import Backlog
from stack.programs.daemon import Daemon
from stack.programs.feedctl import Feedctl
from stack.programs.fleet import RELATION_LOG
from stack.programs.relations import Relations
from tests.e2e.installation import SESSION, USERS, Installation
from tests.e2e.meanwhile import again_and_again

EVERYBODY = range(1, USERS + 1)


class RollingRestart(Installation):
    """Two daemons of each role."""

    dispatchers = pushers = mirrors = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.roles = {
            "dispatchers": cls.fleet.dispatchers, "pushers": cls.fleet.pushers, "mirrors": cls.fleet.mirrors,
            "reconcilers": [Daemon(cls.stack, cls.ports, "fanline-reconciler", f"reconciler-{n}", ["--grace", "1s", *SESSION])
                            for n in (1, 2)],
            "apis": [Api(cls.stack, cls.ports, f"api-{n}") for n in (1, 2)]}
        others = cls.roles["reconcilers"] + cls.roles["apis"]
        for daemon in others:
            daemon.start()
        for daemon in others:
            daemon.wait_ready()

    def test_a_rolling_restart_on_migrated_tables_under_load_ends_exact(self):
        self.relations = Relations(self.stack.mysql)
        self.make_live(EVERYBODY)
        with again_and_again(self.user(), 0.01):
            self.migrate()
            self.await_more()  # the daemons run on beside what they do not know
            for daemons in self.roles.values():
                for daemon in daemons:
                    self.assertEqual(daemon.stop(), 0)
                    daemon.start().wait_ready()
                    self.await_more()
        self.assertGreater(self.counter("fanline_hints_done_total"), 0)
        self.check()

    def migrate(self):
        later = Feedctl(self.stack)
        later.programs = BIN / "later"
        self.assertIn("made 2 migrations", later.run("migrate"))

    def await_more(self):
        worked = self.done
        self.wait_for(lambda: self.done > worked + 20, "the application to go on")

    def user(self):
        """An application that does one thing at each call, and counts them in `done`."""
        draw, self.done = random.Random(11), 0
        posts, clients = [], [api.client() for api in self.roles["apis"]]

        def use():
            if draw.random() < 0.5:
                author = draw.choice(EVERYBODY)
                posts.append((author, self.publish(author)))
            elif posts and draw.random() < 0.2:
                self.delete(*draw.choice(posts))
            else:
                reader, author = draw.sample(EVERYBODY, 2)
                live = reader not in self.ledger.followers.setdefault(author, set())
                if draw.random() < 0.5:
                    self.relations.change(reader, author, live)
                else:
                    self.ask_api(draw.sample(clients, 2), reader, author, live)
                (self.ledger.follow if live else self.ledger.unfollow)(reader, author)
            self.done += 1

        return use

    def ask_api(self, clients, reader, author, live):
        """As by a gateway, which asks the other process where one does not answer."""
        said = answer_of_any(clients, "PUT" if live else "DELETE", f"/v1/users/{reader}/following/{author}")
        self.assertEqual(said.status // 100, 2, said)
        said = answer_of_any(clients, "GET", f"/v1/users/{reader}/timeline")
        self.assertEqual(said.status, 200, said)

    def check(self):
        self.fleet.wait_serving()
        self.wait_for(lambda: self.relations.pending() == 0, "log1 to be mirrored")
        self.settle()
        self.wait_reconciled()
        self.assert_exact()
        self.make_live(EVERYBODY)
        self.publish_all(EVERYBODY)
        self.settle()
        self.assert_exact(live=EVERYBODY)
        self.assertEqual(self.relations.forward() ^ self.relations.reverse(), set())
        self.assertEqual(self.relations.wrong_counters(), [])
        self.assertEqual(self.feedctl.json("dlq", "list", "--json", "--limit", 0)["found"], 0)

    def wait_reconciled(self):
        """The reconcilers have seen both messages of every change, or have checked it."""
        backlog = Backlog(self.stack.kafka.address, "fanline-reconciler", RELATION_LOG)
        try:
            self.wait_for(lambda: backlog.records() == 0, "the reconcilers to have read relation-log")
        finally:
            backlog.close()
        for reconciler in self.roles["reconcilers"]:
            self.assertGreater(reconciler.counters().total("fanline_rel_pairs_total", result="matched"), 0, reconciler.name)


def answer_of_any(clients, method, path):
    for client in clients:
        try:
            return client.ask(method, path)
        except (OSError, HTTPException) as error:
            last = error
    raise last
