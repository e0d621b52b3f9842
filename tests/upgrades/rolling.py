"""One daemon after the other is stopped and comes back with other programs, while an application posts, deletes, follows and
unfollows. At the end every timeline, both directions of the relations and all counters are exact."""

import random
import threading
from pathlib import Path

from stack.programs import BIN
from stack.programs.relations import Relations
from tests.e2e.installation import USERS, Installation

EVERYBODY = range(1, USERS + 1)


class Rolling(Installation):
    """Subclasses say by what programs it begins (`programs`), and call roll."""

    dispatchers = pushers = mirrors = 2

    def roll(self, *roles):
        """Roles in the order in which they are replaced, each daemon by itself."""
        self.relations = Relations(self.stack.mysql)
        self.feedctl.run("activate", "--threads", 2, lines=EVERYBODY)
        self.assertTrue(all(self.runs(daemon, self.programs) for daemon in self.fleet.daemons))
        stop, load = threading.Event(), []
        user = threading.Thread(target=self.use, args=(stop, load))
        user.start()
        try:
            self.feedctl.programs = BIN
            self.feedctl.run("migrate")
            for role in roles:
                for daemon in getattr(self.fleet, role):
                    worked = len(load)
                    self.assertEqual(daemon.stop(), 0)
                    daemon.programs = BIN
                    daemon.start().wait_ready()
                    self.wait_for(lambda: len(load) > worked + 20, "the application to go on")
        finally:
            stop.set()
            user.join()
        self.assertTrue(all(self.runs(daemon, BIN) for daemon in self.fleet.daemons))
        self.check()

    @staticmethod
    def runs(daemon, programs):
        """Whether its process is of these programs."""
        return Path(f"/proc/{daemon.process.pid}/exe").resolve().parent == programs.resolve()

    def use(self, stop, load):
        """`load` grows by one with each thing done."""
        draw = random.Random(11)
        posts = []
        while not stop.wait(0.01):
            if draw.random() < 0.5:
                author = draw.choice(EVERYBODY)
                posts.append((author, self.publish(author)))
            elif posts and draw.random() < 0.2:
                self.delete(*draw.choice(posts))
            else:
                reader, author = draw.sample(EVERYBODY, 2)
                live = reader not in self.ledger.followers.setdefault(author, set())
                self.relations.change(reader, author, live)
                (self.ledger.follow if live else self.ledger.unfollow)(reader, author)
            load.append(None)

    def check(self):
        self.fleet.wait_serving()
        self.wait_for(lambda: self.relations.pending() == 0, "log1 to be relayed")
        self.settle()
        self.assert_exact()
        # Positions that the other programs could not read cost timelines: their readers come back.
        self.feedctl.run("activate", "--threads", 2, lines=EVERYBODY)
        self.publish_all(EVERYBODY)
        self.settle()
        self.assert_exact(live=EVERYBODY)
        self.assertEqual(self.relations.forward() ^ self.relations.reverse(), set())
        self.assertEqual(self.relations.wrong_counters(), [])
        self.assertEqual(self.feedctl.json("dlq", "list", "--json", "--limit", 0)["found"], 0)
