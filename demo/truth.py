"""What the shards hold, read past Fanline's code; compared with the ledger in one go."""

import os
import subprocess
from typing import NamedTuple

from demo.ledger import Visible

_TIMEOUT = 60
_EXAMPLES = 3


class Difference(NamedTuple):
    what: str
    missing: set
    extra: set

    def __str__(self):
        parts = [f"{len(rows)} {word}, such as {sorted(rows)[:_EXAMPLES]}"
                 for word, rows in (("missing", self.missing), ("too many", self.extra)) if rows]
        return f"{self.what}: {'; '.join(parts)}"


class Truth:
    def __init__(self, stack):
        self._ports = [shard.port for shard in stack.mysql]
        self._user = stack.env["FANLINE_MYSQL_USER"]
        self._env = {**os.environ, "MYSQL_PWD": stack.env["FANLINE_MYSQL_PASSWORD"]}

    def differences(self, ledger):
        """None when edges in both directions, counters and visible posts are as the ledger says."""
        edges, visible = ledger.edges(), ledger.visible()
        fans = {(author, len(readers)) for author, readers in ledger.followers.items() if readers}
        following = {}
        for reader, _ in edges:
            following[reader] = following.get(reader, 0) + 1
        compared = [
            Difference("edges, forward (following)", *_both(edges, self.rows(
                "SELECT src, dst FROM following WHERE state = 1"))),
            Difference("edges, reverse (follower)", *_both(edges, self.rows(
                "SELECT src, dst FROM follower WHERE state = 1"))),
            Difference("counters of followers (user_fan)", *_both(fans, self.rows(
                "SELECT user_id, fans_cnt FROM user_fan WHERE fans_cnt <> 0"))),
            Difference("counters of followed (user_rel)", *_both(set(following.items()), self.rows(
                "SELECT user_id, following_cnt FROM user_rel WHERE following_cnt <> 0"))),
            Difference("visible posts (author_post)", *_both(visible, map(Visible._make, self.rows(
                "SELECT author_id, post_id, created_at_ms FROM author_post WHERE deleted = 0"
                " AND hidden = 0 AND pushed = 1 AND created_at_ms IS NOT NULL")))),
        ]
        return [difference for difference in compared if difference.missing or difference.extra]

    def rows(self, sql):
        """Rows of all shards, as tuples of int."""
        for port in self._ports:
            for line in self._lines(port, sql):
                yield tuple(map(int, line.split(b"\t")))

    def _lines(self, port, sql):
        argv = ["mariadb", "--no-defaults", "--protocol=tcp", "--host=127.0.0.1", f"--port={port}",
                f"--user={self._user}", "--batch", "--quick", "--skip-column-names", "fanline",
                "--execute", sql]
        done = subprocess.run(argv, env=self._env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=_TIMEOUT)
        if done.returncode != 0:
            raise ConnectionError(done.stderr.decode(errors="replace").strip())
        return done.stdout.splitlines()


def _both(ledger, truth):
    """Missing in the truth, and too many in it. A row that stands twice is too many once."""
    missing, extra = set(ledger), set()
    for row in truth:
        if row in missing:
            missing.remove(row)
        else:
            extra.add(row)
    return missing, extra
