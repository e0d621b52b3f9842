"""Relations from below: rows written by hand."""

import time
import zlib


def shard_of(user):
    return zlib.crc32(str(user).encode()) % 1024 // 512


def bucket_of(user):
    return zlib.crc32(str(user).encode()) % 1024


class Tables:
    """Rows of following and follower on the shards of a stack."""

    def __init__(self, stack):
        self._stack = stack

    def put_forward(self, *edges, log=False):
        """(src, dst, ver, live) each, as a writer leaves them; `log`: with rows of log1 that a
        mirror applies."""
        self._put("following (src, dst, ver, state, pos)", edges, lambda edge: edge[0],
                  lambda src, dst, ver, live: f"({src},{dst},{ver},{int(live)},{ver // 1000})")
        self._count("user_rel (user_id, following_cnt)", "following_cnt", edges, 0)
        if log:
            self._put("log1 (kind, src, dst, ver, state, pos)", edges, lambda edge: edge[0],
                      lambda src, dst, ver, live:
                      f"(1,{src},{dst},{ver},{int(live)},{ver // 1000})", update=None)

    def log_id(self, edge):
        """Of the newest row of log1 of (src, dst, ver, live)."""
        src, dst, ver, _ = edge
        (log_id,), = self._stack.mysql[shard_of(src)].query(
            f"SELECT MAX(id) FROM log1 WHERE src = {src} AND dst = {dst} AND ver = {ver}")
        return int(log_id)

    def put_reverse(self, *edges):
        self._put("follower (dst, bucket, src, ver, state, pos)", edges, lambda edge: edge[1],
                  lambda src, dst, ver, live:
                  f"({dst},{bucket_of(src)},{src},{ver},{int(live)},{ver // 1000})")
        self._count("user_fan (user_id, fans_cnt)", "fans_cnt", edges, 1)

    def forward(self):
        """{(src, dst): (ver, live)}"""
        return self._rows("following")

    def reverse(self):
        return self._rows("follower")

    def repairs(self):
        """(net, cause, src, dst, before, after, ver) of each."""
        return [(row[0], row[1], int(row[2]), int(row[3]), row[4], row[5], int(row[6]))
                for server in self._stack.mysql for row in server.query(
                    "SELECT net, cause, src, dst, before_value, after_value, ver FROM repair_log")]

    def _put(self, table, edges, owner, text,
             update="ver = VALUES(ver), state = VALUES(state), pos = VALUES(pos)"):
        for shard, server in enumerate(self._stack.mysql):
            rows = [text(*edge) for edge in edges if shard_of(owner(edge)) == shard]
            if rows:
                server.query(f"INSERT INTO {table} VALUES {','.join(rows)}" +
                             (f" ON DUPLICATE KEY UPDATE {update}" if update else ""))

    def _count(self, table, column, edges, end):
        live = [edge for edge in edges if edge[3]]
        self._put(table, live, lambda edge: edge[end],
                  lambda src, dst, ver, live: f"({(src, dst)[end]},1)",
                  update=f"{column} = {column} + 1")

    def _rows(self, table):
        return {(int(src), int(dst)): (int(ver), state == "1")
                for server in self._stack.mysql for src, dst, ver, state in server.query(
                    f"SELECT src, dst, ver, state FROM {table}")}


def version():
    return time.time_ns() // 1000
