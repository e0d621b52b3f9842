"""A planned switch of a shard's primary, as operators do it: the old one becomes read-only and stays
up, its replica catches up and takes writes, and the shard's address leads to it. Connections that
are open still lead to the old one, where rows stand still from then on."""

import time
import unittest

from stack.services.mysql import BINLOG
from tests.e2e.installation import USERS, Installation
from tests.e2e.meanwhile import again_and_again
from tests.e2e.relations import shard_of

EVERYBODY = range(1, USERS + 1)
SWITCHED = 1  # the shard


class PrimaryIsSwitched(Installation):
    pushers = 2
    stack_options = {"proxied": True, "mysql_args": BINLOG}

    @classmethod
    def prepare_services(cls):
        cls.old = cls.stack.mysql[SWITCHED]
        cls.new = cls.stack.add(cls.old.replica)

    def setUp(self):
        super().setUp()
        self.make_live(EVERYBODY)
        self.lives = {daemon.name: daemon.process.pid for daemon in self.fleet.daemons}

    def test_planned_and_nothing_is_lost_nor_read_from_the_old_one(self):
        with again_and_again(self.change_things):
            time.sleep(1)
            end = self.old.hand_over_to(self.new)
            self.stack.links.lead(self.old.name, self.new.port)
            time.sleep(3)
        self.settle()
        self.assert_exact(live=EVERYBODY)
        self.assertEqual(self.old.written(), end, "the old primary was written to")
        self.assertEqual(self.lives, {daemon.name: daemon.process.pid
                                      for daemon in self.fleet.daemons})
        for daemon in self.fleet.daemons:
            daemon.wait_ready()

    def change_things(self):
        """Posts and deletes of authors of the switched shard, and follows of them."""
        authors = [user for user in EVERYBODY if shard_of(user) == SWITCHED]
        for start in range(0, len(authors), 10):
            posts = self.publish_all(authors[start:start + 10])
            self.delete(authors[start], posts[0])
            time.sleep(0.02)
