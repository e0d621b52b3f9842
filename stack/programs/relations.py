"""Relations as they are in the shards, read past Fanline, and changes as an application's own code
makes them: the forward row, its row of log1 and its counter in one transaction."""

import time
import zlib

_ROW = "CONCAT_WS(' ', src, dst, ver, state, pos, delivery)"


class Relations:
    def __init__(self, shards):
        """`shards`: the stack's MariaDB servers."""
        self._shards = shards

    def shard_of(self, user):
        return zlib.crc32(str(user).encode()) % 1024 * len(self._shards) // 1024

    def change(self, src, dst, live):
        """Must be a real change: the caller knows that it is not so already."""
        microseconds = time.time_ns() // 1000
        with self._shards[self.shard_of(src)].client() as client:
            client.query("START TRANSACTION")
            client.query(f"INSERT INTO following (src, dst, ver, state, pos) VALUES ({src}, {dst}, "
                         f"{microseconds}, {live:d}, {microseconds // 1000}) ON DUPLICATE KEY "
                         "UPDATE pos = IF(VALUES(state) = 1, VALUES(pos), pos), "
                         "delivery = IF(VALUES(state) = 1, delivery, 0), "
                         "ver = GREATEST(ver + 1, VALUES(ver)), state = VALUES(state)")
            client.query("INSERT INTO log1 (kind, src, dst, ver, state, pos, delivery) SELECT 1, src, dst, "
                         f"ver, state, pos, delivery FROM following WHERE src = {src} AND dst = {dst}")
            client.query(f"INSERT INTO user_rel (user_id, following_cnt) VALUES ({src}, "
                         f"{1 if live else -1}) ON DUPLICATE KEY UPDATE "
                         "following_cnt = following_cnt + VALUES(following_cnt)")
            client.query("COMMIT")

    def befriend(self, one, other, friends, version):
        """The pair's row of log1, as an accepted request or an ended friendship leaves it."""
        low, high = sorted((one, other))
        self._shards[self.shard_of(low)].query(
            "INSERT INTO log1 (kind, src, dst, ver, state, pos) "
            f"VALUES (2, {low}, {high}, {version}, {friends:d}, {time.time_ns() // 1_000_000})")

    def forward(self):
        return self._all(f"SELECT {_ROW} FROM following")

    def reverse(self):
        return self._all(f"SELECT {_ROW} FROM follower")

    def reverse_row(self, src, dst):
        """"ver state" of one reverse row; None: there is none."""
        rows = self._shards[self.shard_of(dst)].query(
            f"SELECT CONCAT_WS(' ', ver, state) FROM follower WHERE src = {src} AND dst = {dst}")
        return rows[0][0] if rows else None

    def pending(self):
        return sum(int(shard.query("SELECT COUNT(*) FROM log1 WHERE done = 0")[0][0])
                   for shard in self._shards)

    def wrong_counters(self):
        """(user, counter, rows) of each counter that is not the number of its live rows."""
        wrong = []
        for table, owner, counters, counter in (("following", "src", "user_rel", "following_cnt"),
                                                ("follower", "dst", "user_fan", "fans_cnt")):
            rows = dict(self._pairs(f"SELECT {owner}, COUNT(*) FROM {table} WHERE state = 1 "
                                    f"GROUP BY {owner}"))
            counted = dict(self._pairs(f"SELECT user_id, {counter} FROM {counters}"))
            wrong += [(user, counted.get(user, "0"), rows.get(user, "0"))
                      for user in rows.keys() | counted.keys()
                      if counted.get(user, "0") != rows.get(user, "0")]
        return wrong

    def _all(self, sql):
        return {row for shard in self._shards for (row,) in shard.query(sql)}

    def _pairs(self, sql):
        return [row for shard in self._shards for row in shard.query(sql)]
