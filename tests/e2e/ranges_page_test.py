"""The number of ranges is changed as docs/feedctl.md says, by its very commands, while an
application goes on publishing."""

import re
import threading
import unittest
from pathlib import Path

from stack.programs.fleet import TASKS
from stack.programs.relations import Relations
from tests.e2e.installation import USERS, Installation

EVERYBODY = range(1, USERS + 1)


def page():
    """The statement for every shard, the commands, and what they lead to: ranges and topic."""
    text = Path("docs/feedctl.md").read_text(encoding="utf-8")
    part = text[text.index("To change the number later"):]
    statement = re.search(r"```sql\n(.*?);\n```", part, re.S)[1]
    commands = [line.split() for line in re.search(r"```sh\n(.*?)```", part, re.S)[1].splitlines()]
    ranges, topic = re.search(r"partitions = (\d+).*tasks_topic = '([\w-]+)'", statement, re.S).groups()
    return statement, commands, int(ranges), topic


class OtherRanges(Installation):
    mirrors = 1

    def test_the_number_of_ranges_is_changed_and_no_post_is_missed(self):
        statement, commands, ranges, topic = page()
        self.assertNotEqual(ranges, self.ranges)
        self.make_live(EVERYBODY)
        self.publish_all(EVERYBODY)
        self.settle()
        self.assert_exact(live=EVERYBODY)

        posts = threading.Thread(target=lambda: [self.publish_all(EVERYBODY) for _ in range(20)])
        posts.start()
        left, *others = self.fleet.daemons[::-1]  # a mirror that somebody forgot to stop
        for daemon in others:
            daemon.stop()
        for shard in self.stack.mysql:
            shard.query(statement)
        self.wait_for(lambda: not left.running, "what was forgotten to end by itself")
        self.assertEqual(left.process.exit_code, 78)
        stranger = next(author for author in EVERYBODY[1:] if 1 not in self.ledger.followers[author])
        Relations(self.stack.mysql).change(1, stranger, True)
        self.ledger.follow(1, stranger)
        for program, *words in commands:
            self.assertEqual(program, "feedctl")
            self.feedctl.run(*words)
        self.assertEqual(self.timelines(), {})
        for daemon in self.fleet.daemons:
            daemon.start()
        self.fleet.cut_anew(ranges, topic)
        self.fleet.wait_serving()
        self.make_live(EVERYBODY[::2])
        posts.join()
        self.publish_all(EVERYBODY)
        self.settle()
        self.make_live(EVERYBODY)
        self.publish_all(EVERYBODY)
        self.settle()
        self.assert_exact(live=EVERYBODY)
        self.assertNotEqual(topic, TASKS)
        self.assertEqual(len(self.feedctl.json("ranges", "--json")["ranges"]), ranges)
