"""A forward shard is killed right after the first message of a change, and its replica, which was
behind, takes its place. The forward row and its row of log1 are gone, and the mirror that had read
them died with its memory. What msg1 says is all that is left of an acknowledged follow: the
reconciler brings it into both rows, and the mirror from there to the timeline."""

import unittest

from stack.programs.daemon import Daemon
from stack.services.mysql import BINLOG
from tests.e2e.installation import SESSION, USERS, Installation
from tests.e2e.relations import Tables, shard_of

LOST = 1  # the shard


class ForwardShardLosesItsTail(Installation):
    mirrors = 1
    stack_options = {"proxied": True, "mysql_args": BINLOG}

    @classmethod
    def prepare_services(cls):
        cls.old = cls.stack.mysql[LOST]
        cls.new = cls.stack.add(cls.old.replica)

    def test_what_msg1_says_of_a_lost_follow_comes_back_into_both_rows(self):
        reader, author = self.stranger()
        self.make_live([reader])
        post = self.publish(author)
        self.settle()
        mirror, = self.fleet.mirrors
        mirror.stop()
        self.wait_for(self.has_all_of_the_old, "the replica to be up to date")
        self.new.query("STOP REPLICA")

        victim = Daemon(self.stack, self.ports, "dying_mirror", "mirror-dies-msg1", SESSION,
                        {"DIE_AFTER": "msg1"}).start()
        self.change_relation(reader, author, True)
        self.wait_for(lambda: not victim.running, "the mirror's death after msg1")
        self.old.kill()
        self.new.promote()
        self.stack.links.lead(self.old.name, self.new.port)
        self.stack.mysql[LOST] = self.new  # which is the shard from now on
        self.addCleanup(self.stack.mysql.__setitem__, LOST, self.old)
        tables = Tables(self.stack)
        self.assertNotIn((reader, author), tables.forward(), "the follow was not lost")
        self.assertNotIn((reader, author), tables.reverse())

        mirror.start().wait_ready()
        reconciler = Daemon(self.stack, self.ports, "fanline-reconciler", "reconciler",
                            ["--grace", "1s", *SESSION]).start().wait_ready()
        self.addCleanup(reconciler.stop)
        self.wait_for(lambda: (reader, author) in tables.reverse(), "the follow in the reverse row")
        self.wait_mirrored()
        self.assertEqual(tables.forward()[reader, author], tables.reverse()[reader, author])
        self.assertEqual([repair[:4] for repair in tables.repairs()], [("pair", "lost", reader, author)])
        self.ledger.follow(reader, author)
        # A pusher whose session ended, on a busy machine, has dropped the timeline.
        self.wait_for(lambda: post in (self.posts_of(reader) or self.make_live([reader]) or ()), "the author's post")
        self.settle()
        self.assert_exact(live=[reader])

    def stranger(self):
        """(reader, author): the forward row would be on the shard that is lost, the reverse row on the
        other."""
        return next((reader, author) for reader in range(1, USERS + 1) for author in range(1, USERS + 1)
                    if reader != author and shard_of(reader) == LOST != shard_of(author)
                    and reader not in self.ledger.followers[author])

    def has_all_of_the_old(self):
        return self.new.applied() == self.old.written()
