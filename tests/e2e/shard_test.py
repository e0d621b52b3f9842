"""A MariaDB shard is away for some seconds: the other's authors go on, its own are not lost."""

import unittest
import zlib

from tests.e2e.installation import USERS, Installation, most_followed

EVERYBODY = range(1, USERS + 1)


def shard_of(user):
    return zlib.crc32(str(user).encode()) % 1024 // 512


class ShardComesBack(Installation):
    def setUp(self):
        super().setUp()
        self.make_live(EVERYBODY)
        self.here, self.away = (
            next(author for author in most_followed(self.ledger, USERS)
                 if shard_of(author) == shard) for shard in (0, 1))
        self.dispatcher, = self.fleet.dispatchers

    def test_its_authors_wait_and_the_others_do_not(self):
        self.stack.mysql[1].stop()
        waiting, arriving = self.publish_all([self.away, self.here])
        reader = min(self.ledger.followers[self.here])
        self.wait_for(lambda: arriving in self.posts_of(reader), "the other shard's author")
        self.wait_for(lambda: "mysql_1" in self.dispatcher.named(), "the dispatcher to notice")
        self.assertEqual(self.dispatcher.status("/readyz"), 200)
        reader = min(self.ledger.followers[self.away])
        self.assertNotIn(waiting, self.posts_of(reader))

        self.stack.mysql[1].start()
        self.wait_for(lambda: waiting in self.posts_of(reader), "the post that waited")
        self.settle()
        self.assertEqual(self.dispatcher.named(), {})
        self.assert_exact(live=EVERYBODY)

    def test_killed_while_posts_flow_it_loses_none(self):
        self.publish_all(list(EVERYBODY) * 3)
        self.stack.mysql[1].kill()
        self.publish_all(list(EVERYBODY))
        self.stack.mysql[1].start()
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def test_hanging_while_posts_flow_it_loses_none(self):
        self.publish_all(list(EVERYBODY) * 3)
        self.stack.mysql[0].pause()
        self.addCleanup(self.stack.mysql[0].resume)
        self.publish_all(list(EVERYBODY))
        self.wait_for(lambda: "mysql_0" in self.dispatcher.named(), "the dispatcher to notice")
        self.stack.mysql[0].resume()
        self.settle()
        self.assert_exact(live=EVERYBODY)


if __name__ == "__main__":
    unittest.main()
