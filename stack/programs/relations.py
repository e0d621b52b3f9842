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

    def change(self, src, dst, live, done=False, logged=True):
        """Must be a real change: the caller knows that it is not so already. `done`: no mirror sees it. `logged`:
        in the server's binary log, too."""
        microseconds = time.time_ns() // 1000
        with self._shards[self.shard_of(src)].client() as client:
            client.query(f"SET SESSION sql_log_bin = {logged:d}")
            client.query("START TRANSACTION")
            client.query(f"INSERT INTO following (src, dst, ver, state, pos) VALUES ({src}, {dst}, "
                         f"{microseconds}, {live:d}, {microseconds // 1000}) ON DUPLICATE KEY "
                         "UPDATE pos = IF(VALUES(state) = 1, VALUES(pos), pos), "
                         "delivery = IF(VALUES(state) = 1, delivery, 0), "
                         "ver = GREATEST(ver + 1, VALUES(ver)), state = VALUES(state)")
            client.query("INSERT INTO log1 (kind, src, dst, ver, state, pos, delivery, done) SELECT 1, src, "
                         f"dst, ver, state, pos, delivery, {done:d} FROM following "
                         f"WHERE src = {src} AND dst = {dst}")
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

    # ---- rows that get lost, and what they counted with them: as a failover takes them -------------
    # `before`: version and position of the follow that is there again; none: there was no row. Of rows
    # whose version says that they are older than `within` seconds nothing is done. Each answers whether
    # there was one.

    def lose_forward(self, src, dst, before=None, within=None):
        return self._lose(src, "following", f"src = {src} AND dst = {dst}",
                          "user_rel SET following_cnt = following_cnt", before, within)

    def lose_reverse(self, src, dst, before=None, within=None):
        return self._lose(dst, "follower", f"dst = {dst} AND src = {src}",
                          "user_fan SET fans_cnt = fans_cnt", before, within)

    def _lose(self, user, table, edge, counter, before, within):
        with self._shards[self.shard_of(user)].client() as client:
            client.query("START TRANSACTION")
            rows = client.query(f"SELECT state FROM {table} WHERE {edge}{_younger(within)} FOR UPDATE")
            for state, in rows:
                client.query("UPDATE {} SET ver = {}, pos = {}, state = 1 WHERE {}".format(table, *before, edge)
                             if before else f"DELETE FROM {table} WHERE {edge}")
                client.query(f"UPDATE {counter} + {before is not None:d} - {state} WHERE user_id = {user}")
            client.query("COMMIT")
        return bool(rows)

    def lose_log1(self, src, dst):
        return 0 < self._shards[self.shard_of(src)].query(
            f"DELETE FROM log1 WHERE src = {src} AND dst = {dst} AND kind = 1")

    # ---- rows that somebody edits ------------------------------------------------------------------

    def edit_forward(self, src, dst, change, within=None):
        return 0 < self._shards[self.shard_of(src)].query(
            f"UPDATE following SET {change} WHERE src = {src} AND dst = {dst}{_younger(within)}")

    def edit_reverse(self, src, dst, change, within=None):
        return 0 < self._shards[self.shard_of(dst)].query(
            f"UPDATE follower SET {change} WHERE dst = {dst} AND src = {src}{_younger(within)}")

    # ------------------------------------------------------------------------------------------------

    def forward(self):
        return self._all(f"SELECT {_ROW} FROM following")

    def reverse(self):
        return self._all(f"SELECT {_ROW} FROM follower")

    def reverse_row(self, src, dst):
        """"ver state" of one reverse row; None: there is none."""
        rows = self._shards[self.shard_of(dst)].query(
            f"SELECT CONCAT_WS(' ', ver, state) FROM follower WHERE src = {src} AND dst = {dst}")
        return rows[0][0] if rows else None

    def forward_row(self, src, dst):
        """(ver, state, pos); None: there is none."""
        rows = self._shards[self.shard_of(src)].query(
            f"SELECT ver, state, pos FROM following WHERE src = {src} AND dst = {dst}")
        return tuple(map(int, rows[0])) if rows else None

    def mirrored(self, src, dst):
        """Whether no row of log1 of this edge is pending, or of a friendship of these two."""
        low, high = sorted((src, dst))
        return not any(self._shards[self.shard_of(one)].query(
            f"SELECT 1 FROM log1 WHERE done = 0 AND kind = {kind} AND src = {one} AND dst = {other} LIMIT 1")
            for kind, one, other in ((1, src, dst), (2, low, high)))

    def pending(self, for_s=None):
        """How many rows of log1 are pending; of those that a program has written, for so many seconds."""
        old = "" if for_s is None else f" AND ts <= UTC_TIMESTAMP(3) - INTERVAL {for_s} SECOND"
        return sum(int(shard.query(f"SELECT COUNT(*) FROM log1 WHERE done = 0{old}")[0][0])
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


def _younger(within):
    """Versions are microseconds of a clock."""
    return "" if within is None else f" AND ver > (UNIX_TIMESTAMP(NOW(3)) - {within}) * 1000000"
