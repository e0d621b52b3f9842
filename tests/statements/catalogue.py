"""What the programs may ask of MariaDB or MySQL.

ENTRIES: an example of each shape, the longest the programs write, run by cost_test on 100,000 rows
of every table, and once more with one element in each of its lists (MariaDB's UPDATE uses no index
for a list of one tuple): it may read 2 x (rows returned + elements of its lists) + 50 rows and keys.
One that must read more says how many and why.

EXCEPTIONS: shapes that are not run, and why.

To add an entry: write the statement as the program does, with the helpers below for its literals.
`user`, `owner` and `member_of(owner, k)` name rows that are there (dataset.py), `listed` writes a
list as the programs do. What its shape is, nobody needs to write: it is derived.
"""

import re
import zlib
from dataclasses import dataclass

from stack.statement_shapes import shape_of
from tests.statements.dataset import OWNERS, PER_OWNER, ROWS, STARTED, id_of, member_of

LIST = 300     # elements of one list, kListLimit
IDS = 900      # ids of a list that has nothing else, kIdsLimit
MARKS = 180    # kRowsPerMark
DROPS = 225    # kRowsPerDrop
UNION = 32     # kUnionLimit
AUTHORS = 128  # kAuthorsLimit
NOW_MS = "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)"


@dataclass(frozen=True)
class Entry:
    sql: str
    elements: int = 0
    more: int = 0
    why: str = ""
    of_one: "Entry | None" = None  # the same with one element in each list

    @property
    def shape(self):
        return shape_of(self.sql)


def entry(template, *lists, more=0, why=""):
    """Each `[]` of the template is the next list."""
    assert bool(more) == bool(why), "what reads more says why"
    parts = template.split("[]")
    assert len(parts) == len(lists) + 1, template
    elements = sum(map(len, lists))
    of_one = None
    if elements > len(lists):
        of_one = entry(template, *[each[:1] for each in lists], more=more * len(lists) // elements, why=why)
    sql = parts[0] + "".join(",".join(each) + part for each, part in zip(lists, parts[1:]))
    return Entry(" ".join(sql.split()), elements, more, why, of_one)


def listed(ids):
    return [hex(each) if max(ids) >= 1 << 63 else str(each) for each in ids]


def row(*values):
    return "(" + ",".join(map(str, values)) + ")"


def bucket(user):
    return zlib.crc32(str(user).encode()) % 1024


def owners(count):
    """Of every length."""
    return [id_of(1 + i) for i in range(count)]


def edges(count):
    """(owner, member) of rows that are there."""
    return [(id_of(1 + i), id_of(member_of(1 + i, i % PER_OWNER))) for i in range(count)]


def new_edges(count):
    """Of rows that are not."""
    return [(id_of(1 + i), id_of(member_of(2 + i, 0))) for i in range(count)]


OWNER = id_of(11)   # 20 digits
OTHER = id_of(12)   # 10 digits
MEMBER = id_of(member_of(11, 5))
AT = STARTED + ROWS // 2
PAGE = 100
KEY = f"low = {min(OWNER, MEMBER)} AND high = {max(OWNER, MEMBER)}"

_OUTBOX = ("(SELECT author_id, post_id, created_at_ms, original_id, original_author FROM author_post FORCE INDEX (outbox) WHERE author_id = {}"
           " AND pushed = 1 AND deleted = 0 AND hidden = 0 AND created_at_ms > 0{} ORDER BY created_at_ms DESC,"
           " post_id DESC LIMIT 50)")
_ITEMS = ("SELECT author_id, post_id, created_at_ms, original_id, original_author FROM author_post FORCE INDEX (outbox) WHERE pushed = 1 AND deleted = 0"
          " AND hidden = 0 AND author_id IN ([]) AND created_at_ms > {}{} ORDER BY author_id, created_at_ms DESC, post_id"
          " DESC LIMIT 1800")
_SPANS = [(0, ""), (AT - 9, f" AND created_at_ms <= {AT + 9}"),
          (0, f" AND created_at_ms <= {AT} AND NOT (created_at_ms = {AT} AND post_id >= 5)")]
_VISIBLE = ("SELECT author_id, post_id, created_at_ms, original_id, original_author, pushed FROM author_post FORCE INDEX (PRIMARY) WHERE deleted = 0"
            " AND hidden = 0 AND created_at_ms > 0 AND ")
_FRIENDS = (f"SELECT STRAIGHT_JOIN f.dst, f.pos, f.delivery FROM following AS f FORCE INDEX (newest) JOIN follower AS r FORCE"
            f" INDEX (PRIMARY) ON r.dst = {OWNER} AND r.bucket = CRC32(f.dst) % 1024 AND r.src = f.dst AND"
            f" r.state = 1 WHERE f.state = 1 AND f.src = {OWNER}")
_LOGGED_BY = "kind, src, dst, ver, state, pos, delivery, FLOOR(UNIX_TIMESTAMP(ts) * 1000), done FROM log1 FORCE INDEX"
_LOGGED = f"{_LOGGED_BY} (pending)"
_EDGE = "src, dst, ver, state, pos, delivery"
_INSERT_FOLLOWER = "INSERT INTO follower (dst, bucket, src, ver, state, pos, delivery) VALUES [] ON DUPLICATE KEY UPDATE "
_INSERT_FOLLOWING = "INSERT INTO following (src, dst, ver, state, pos, delivery) VALUES [] ON DUPLICATE KEY UPDATE "
_OLD_TOMBSTONE = (f"state = 0 AND friend_version = 0 AND friend_announced = 0 AND ver < {AT * 1000} AND ut <"
                  f" FROM_UNIXTIME({AT} / 1000)")
_COUNTED = "counts the live rows of a user by the index: 100 each"
_CLOCK = "UNIX_TIMESTAMP() * 1000000"
_NOW = "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)"
_EACH_REPOST = "reads each repost, keeps it in a table, and looks up its row"
_WALK = "a page of a walk over four tables, grouped"


def _swept(behind):
    return (f"SELECT r.original_id, r.author_id, r.post_id, COALESCE(p.deleted, 0), p.original_id, p.original_author FROM"
            f" (SELECT original_id, author_id, post_id FROM repost FORCE INDEX (PRIMARY) WHERE {behind} ORDER BY original_id,"
            f" author_id, post_id LIMIT {PAGE}) AS r LEFT JOIN author_post AS p FORCE INDEX (PRIMARY) ON p.author_id ="
            f" r.author_id AND p.post_id = r.post_id")


def _reposts(after):
    return (f" FROM (SELECT author_id, post_id FROM repost FORCE INDEX (PRIMARY) WHERE original_id = {OWNER}{after} ORDER BY"
            f" author_id, post_id LIMIT 250) AS r LEFT JOIN author_post AS p FORCE INDEX (PRIMARY) ON p.author_id ="
            f" r.author_id AND p.post_id = r.post_id AND p.original_id = {OWNER} AND p.original_author = {OTHER} AND"
            f" p.created_at_ms > 0 AND p.deleted = 0 AND p.hidden = 0")


def _counter(counters, column, rows, owner, piece, first, last):
    """At once, and in pieces behind an empty start."""
    at_once = f"(SELECT COUNT(*) FROM {rows} FORCE INDEX (newest) WHERE state = 1 AND {owner} = {OWNER})"
    for live, more in [(at_once, {"more": 2 * PER_OWNER, "why": _COUNTED}), ("0", {})]:
        yield entry(
            f"SELECT COALESCE(c.{column}, 0), COALESCE(c.epoch, 0), n.live, c.user_id IS NOT NULL FROM (SELECT"
            f" {live} AS live) AS n LEFT JOIN {counters} AS c ON c.user_id = {OWNER}", **more)
    yield entry(f"SELECT COUNT(*) FROM {rows} FORCE INDEX (PRIMARY) WHERE state = 1 AND {owner} = {OWNER} AND {piece}"
                f" >= {first} AND {piece} <= {last}", more=2 * PER_OWNER, why=_COUNTED)


def _looked(counters, column, rows, owner, which):
    return (f"SELECT user_id, {which}, {column}, 0 FROM {counters} WHERE user_id IN ([]) UNION ALL SELECT {owner},"
            f" {which}, 0, COUNT(*) FROM {rows} FORCE INDEX (newest) WHERE state = 1 AND {owner} IN ([]) GROUP BY"
            f" {owner}")


def _owners_of(number, table, owner):
    return (f"SELECT {number}, owner, COUNT(*) FROM (SELECT {owner} AS owner FROM {table} FORCE INDEX (PRIMARY)"
            f" WHERE {owner} > {OTHER} ORDER BY {owner} LIMIT {PAGE}) AS t{number} GROUP BY owner")


_PLACE = "after_owner, after_bucket, after_member, began, compared, passed, proved, replica, stopped, allowed"
_DIGEST = f"CAST(CONV(LEFT(SHA2(CONCAT_WS(':', {_EDGE}), 256), 16), 16, 10) AS UNSIGNED)"


def _placed(between):
    return between.join(f"{column} = {value}" for column, value in zip(_PLACE.split(", "), [7, 8, 9, 10, 11, 12, 13, 0, "''", 0]))


_REVERSE_KEYS = [row(dst, bucket(src), src) for dst, src in edges(LIST)]
_POST_KEYS = [row(*each) for each in edges(LIST)]

ENTRIES = [
    # Posts.
    entry("SELECT author_id, post_id, created_at_ms, deleted, hidden, pushed, visibility_version, edit_version,"
          " original_id, original_author FROM author_post FORCE INDEX (PRIMARY) WHERE (author_id, post_id) IN ([])", _POST_KEYS),
    entry("SELECT author_id, post_id FROM author_post FORCE INDEX (PRIMARY) WHERE pushed = 0 AND"
          " (author_id, post_id) IN ([])", _POST_KEYS),
    entry("INSERT INTO author_post (author_id, post_id, created_at_ms, deleted, hidden, visibility_version,"
          " edit_version, pushed, original_id, original_author) VALUES [] ON DUPLICATE KEY UPDATE original_id ="
          " IF(created_at_ms IS NULL, VALUES(original_id), original_id), original_author = IF(created_at_ms IS NULL,"
          " VALUES(original_author), original_author), created_at_ms = COALESCE(created_at_ms,"
          " VALUES(created_at_ms)), deleted = GREATEST(deleted, VALUES(deleted)), hidden ="
          " IF(VALUES(visibility_version) > visibility_version, VALUES(hidden), hidden), visibility_version ="
          " GREATEST(visibility_version, VALUES(visibility_version)), edit_version = GREATEST(edit_version,"
          " VALUES(edit_version))",
          [row(author, post, AT, 0, 1, 5, 6, 0, 7, 8)
           for author, post in edges(LIST // 2) + new_edges(LIST // 2)]),
    entry("INSERT IGNORE INTO repost (original_id, author_id, post_id) VALUES []",
          [row(1 + at, author, post) for at, (author, post) in enumerate(new_edges(LIST))]),
    *[entry(f"SELECT r.author_id, COALESCE(p.created_at_ms, 0){_reposts(after)}", more=2 * PER_OWNER, why=_EACH_REPOST)
      for after in ["", f" AND author_id > {OTHER}"]],
    entry(f"SELECT COUNT(DISTINCT p.author_id), COUNT(*){_reposts('')}", more=4 * PER_OWNER, why=_EACH_REPOST),
    entry(f"SELECT STRAIGHT_JOIN r.post_id FROM repost AS r FORCE INDEX (PRIMARY) JOIN author_post AS p FORCE INDEX (PRIMARY)"
          f" ON p.author_id = r.author_id AND p.post_id = r.post_id AND p.original_id = r.original_id WHERE r.original_id ="
          f" {OWNER} AND r.author_id = {MEMBER} AND p.deleted = 0 ORDER BY r.post_id LIMIT 100"),
    entry("SELECT original_id, author_id, post_id FROM repost FORCE INDEX (PRIMARY) WHERE original_id IN ([]) ORDER BY"
          " original_id, author_id, post_id LIMIT 1000", listed(owners(LIST))),
    entry(f"SELECT original_id, author_id, post_id FROM repost FORCE INDEX (PRIMARY) WHERE original_id = {OWNER} AND"
          " author_id IN ([])", listed([id_of(member_of(11, k)) for k in range(PER_OWNER)])),
    # Reposts of posts that were deleted.
    *[entry(_swept(behind), more=2 * PER_OWNER, why=_EACH_REPOST) for behind in (
        f"original_id = {OWNER} AND author_id = {MEMBER} AND post_id > 7", f"original_id = {OWNER} AND author_id > 7",
        f"original_id > {OTHER}")],
    entry("DELETE r FROM repost AS r FORCE INDEX (PRIMARY) WHERE (original_id, author_id, post_id) IN ([])",
          [row(original, author, 7) for original, author in edges(LIST)]),
    entry("INSERT INTO author (author_id, last_at) VALUES [] ON DUPLICATE KEY UPDATE last_at = GREATEST(last_at,"
          " VALUES(last_at))", [row(author, AT + ROWS) for author in owners(LIST)]),
    entry("SELECT author_id, last_at, COALESCE(marked, 0), COALESCE(announced, 0) FROM author FORCE INDEX (PRIMARY)"
          " LEFT JOIN author_mode USING (author_id) WHERE author_id IN ([])", listed(owners(LIST))),
    entry(f"SELECT author_id, pull, {NOW_MS} - NULLIF(announced, 0), marked, by_hand, version, {NOW_MS} - since, live,"
          f" lag_ms, {NOW_MS} - weighed FROM author_mode FORCE INDEX (PRIMARY) WHERE author_id IN ([])", listed(owners(LIST))),
    entry(f"UPDATE author_mode SET pull = 1, marked = 1, since = {NOW_MS}, version = version + 1 WHERE author_id ="
          f" {OWNER} AND version = 0"),
    entry(f"UPDATE author_mode SET pull = 0, since = {NOW_MS}, version = version + 1 WHERE author_id = {OWNER} AND"
          " version = 0"),
    entry(f"UPDATE author_mode SET by_hand = 0, version = version + 1 WHERE author_id = {OWNER}"),
    entry(f"INSERT INTO author_mode (author_id, live, lag_ms, weighed) VALUES ({OWNER},5,6,{NOW_MS}) ON DUPLICATE KEY"
          " UPDATE live = VALUES(live), lag_ms = VALUES(lag_ms), weighed = VALUES(weighed)"),
    entry(f"UPDATE author_mode SET announced = {NOW_MS} WHERE author_id = {OWNER}"),
    entry(f"INSERT INTO author_mode (author_id, pull, marked, by_hand, version, since) VALUES ({OWNER},1,1,1,1,{NOW_MS})"
          " ON DUPLICATE KEY UPDATE since = IF(pull = VALUES(pull), since, VALUES(since)), pull = VALUES(pull),"
          " marked = GREATEST(marked, VALUES(marked)), by_hand = 1, version = version + 1"),
    entry(f"SELECT author_id, announced FROM author_mode WHERE marked = 1 AND author_id > {OTHER} ORDER BY author_id"
          f" LIMIT {PAGE}"),
    entry(" UNION ALL ".join(_OUTBOX.format(author, "") for author in owners(UNION))),
    entry(" UNION ALL ".join(_OUTBOX.format(author, " AND original_id IS NULL") for author in owners(UNION))),
    *[entry(" UNION ALL ".join(
        _OUTBOX.format(author, f"{up_to} AND created_at_ms <= {AT} AND (created_at_ms < {AT} OR post_id < 5)")
        for author in owners(UNION))) for up_to in ["", f" AND created_at_ms <= {AT}"]],
    entry(" UNION ALL ".join(_OUTBOX.format(author, f" AND created_at_ms <= {AT}") for author in owners(UNION))),
    *[entry(_ITEMS.format(above, kind + up_to), listed(owners(IDS)))
      for above, up_to in _SPANS for kind in ["", " AND original_id IS NULL"]],
    entry(_VISIBLE + f"author_id = {OWNER} AND post_id > 7 ORDER BY author_id, post_id LIMIT {PAGE}"),
    entry(_VISIBLE + f"author_id > {OTHER} ORDER BY author_id, post_id LIMIT {PAGE}"),

    # Followers and followed users.
    entry("SELECT dst, bucket, src, delivery FROM follower FORCE INDEX (PRIMARY) WHERE state = 1 AND delivery <> 2 AND ((dst IN ([]) AND bucket"
          " BETWEEN 64 AND 127) OR (dst IN ([]) AND bucket BETWEEN 256 AND 319)) ORDER BY dst, bucket, src LIMIT 10000",
          listed(owners(AUTHORS // 2)), listed(owners(AUTHORS)[AUTHORS // 4:-AUTHORS // 4])),
    entry("SELECT dst, bucket FROM follower FORCE INDEX (newest) WHERE state = 1 AND dst IN ([]) LIMIT 12865",
          listed(owners(AUTHORS))),
    entry(f"SELECT src, delivery FROM follower FORCE INDEX (PRIMARY) WHERE state = 1 AND delivery <> 2 AND dst = {OWNER} AND bucket ="
          f" {bucket(MEMBER)} AND src > 7 ORDER BY src LIMIT {PAGE}"),
    entry(f"SELECT src, delivery FROM follower FORCE INDEX (PRIMARY) WHERE state = 1 AND delivery <> 2 AND dst = {OWNER} AND bucket"
          f" BETWEEN 64 AND 1023 ORDER BY bucket, src LIMIT {PAGE}"),
    entry(f"SELECT {_EDGE} FROM follower FORCE INDEX (PRIMARY) WHERE (dst, bucket, src) IN ([])",
          _REVERSE_KEYS),
    entry(f"SELECT {_EDGE} FROM follower FORCE INDEX (PRIMARY) WHERE (dst, bucket, src) IN ([])"
          " ORDER BY dst, bucket, src FOR UPDATE", _REVERSE_KEYS),
    entry(f"SELECT {_EDGE} FROM following FORCE INDEX (PRIMARY) WHERE (src, dst) IN ([])",
          _POST_KEYS),
    entry(f"SELECT dst, delivery, '' FROM following WHERE state = 1 AND delivery <> 2 AND src = {OWNER} UNION ALL"
          f" SELECT version, 0, authors FROM mute WHERE reader_id = {OWNER} AND authors <> ''"),
    *[entry(f"SELECT {_EDGE} FROM follower FORCE INDEX (PRIMARY) WHERE {behind} ORDER BY dst, bucket, src LIMIT {PAGE}")
      for behind in (f"dst = {OWNER} AND bucket = {bucket(MEMBER)} AND src > 7", f"dst = {OWNER} AND bucket > 64",
                     f"dst > {OTHER}")],
    entry(f"SELECT {_EDGE} FROM following FORCE INDEX (PRIMARY) WHERE (src, dst) IN ([]) ORDER BY src, dst FOR UPDATE",
          _POST_KEYS),
    entry(_INSERT_FOLLOWING + "ver = ver",
          [row(src, dst, 0, 0, 0, 0) for src, dst in edges(LIST // 2) + new_edges(LIST // 2)]),
    entry(_INSERT_FOLLOWING + "ver = VALUES(ver), state = VALUES(state), pos = VALUES(pos), delivery = VALUES(delivery)",
          [row(src, dst, 9, 1, AT, 2) for src, dst in edges(LIST // 2) + new_edges(LIST // 2)]),
    # Tombstones that are collected.
    *[entry(f"SELECT src, dst, ver, {_OLD_TOMBSTONE} FROM following FORCE INDEX (PRIMARY) WHERE {behind} ORDER BY src,"
            f" dst LIMIT {PAGE}") for behind in (f"src = {OWNER} AND dst > 7", f"src > {OTHER}")],
    entry(f"DELETE f FROM following AS f FORCE INDEX (PRIMARY) WHERE (src, dst) IN ([]) AND (src, dst, ver) IN ([]) AND"
          f" {_OLD_TOMBSTONE} AND (SELECT MAX(horizon) FROM tombstone_sweep) >= 7",
          [row(*edge) for edge in edges(DROPS)], [row(*edge, 9) for edge in edges(DROPS)]),
    entry("DELETE f FROM follower AS f FORCE INDEX (PRIMARY) WHERE (dst, bucket, src) IN ([]) AND (dst, bucket, src,"
          " ver) IN ([]) AND state = 0", [row(dst, bucket(src), src) for dst, src in edges(DROPS)],
          [row(dst, bucket(src), src, 9) for dst, src in edges(DROPS)]),
    *[entry(f"SELECT {shown} FROM {table} FORCE INDEX (newest) WHERE state = 1 AND {owner} = {OWNER}{behind}"
            f" ORDER BY pos DESC, {other} DESC LIMIT 50")
      for table, owner, other, shown in [("following", "src", "dst", "dst, pos, delivery"),
                                         ("follower", "dst", "src", "src, pos")]
      for behind in ["", f" AND pos <= {AT} AND (pos < {AT} OR {other} < {MEMBER})"]],
    # For a user of more than 10,000 followers it reads as many index entries as stand before the page.
    entry("SELECT COUNT(*) FROM (SELECT 1 FROM follower FORCE INDEX (newest) WHERE state = 1 AND dst ="
          f" {OWNER} AND pos >= {AT} AND (pos > {AT} OR src >= {MEMBER}) AND (SELECT fans_cnt FROM user_fan WHERE"
          f" user_id = {OWNER}) > 10000 LIMIT 10000) AS seen"),
    *[entry(_FRIENDS + behind + " ORDER BY f.pos DESC, f.dst DESC LIMIT 50")
      for behind in ["", f" AND f.pos <= {AT} AND (f.pos < {AT} OR f.dst < {MEMBER})"]],
    entry(f"SELECT src, dst, delivery FROM following FORCE INDEX (PRIMARY) WHERE state = 1 AND delivery <> 2 AND src = {OWNER} AND"
          f" dst > 7 ORDER BY src, dst LIMIT {PAGE}"),
    entry(f"SELECT src, dst, delivery FROM following FORCE INDEX (PRIMARY) WHERE state = 1 AND delivery <> 2 AND src > {OTHER} ORDER"
          f" BY src, dst LIMIT {PAGE}"),
    entry(_INSERT_FOLLOWER + "ver = ver",
          [row(dst, bucket(src), src, 0, 0, 0, 0) for dst, src in edges(LIST // 2) + new_edges(LIST // 2)]),
    entry(_INSERT_FOLLOWER + "state = IF(VALUES(ver) > ver, VALUES(state), state), pos = IF(VALUES(ver) > ver,"
          " VALUES(pos), pos), delivery = IF(VALUES(ver) > ver, VALUES(delivery), delivery), ver = GREATEST(ver, VALUES(ver))",
          [row(dst, bucket(src), src, 9, 1, AT, 2) for dst, src in edges(LIST // 2) + new_edges(LIST // 2)]),
    entry("INSERT INTO following (src, dst, ver, state, pos, friend_announced) VALUES [] ON DUPLICATE KEY UPDATE"
          " friend_announced = GREATEST(friend_announced, VALUES(friend_announced))",
          [row(OWNER, MEMBER, 1, 0, 0, 9)]),
    entry(f"SELECT friend_version FROM following WHERE src = {OWNER} AND dst = {MEMBER}"),
    entry(f"INSERT INTO user_rel (user_id, changes_until) VALUES ({OWNER}, {_CLOCK} + 9) ON DUPLICATE KEY UPDATE"
          f" changes_until = IF(changes_until > (({_CLOCK} + 9) - 9) AND changes_until <= ({_CLOCK} + 9), changes_until,"
          f" LEAST(GREATEST(changes_until, {_CLOCK}) + 9, ({_CLOCK} + 9)))"),
    entry(f"SELECT changes_until - (({_CLOCK} + 9) - 9) FROM user_rel WHERE user_id = {OWNER}"),
    entry(f"SELECT COALESCE((SELECT following_cnt FROM user_rel WHERE user_id = {OWNER}), 0) >= 9 AND NOT EXISTS (SELECT 1"
          f" FROM following WHERE src = {OWNER} AND dst = {MEMBER} AND state = 1)"),
    entry(f"CALL follow_new_edge({OWNER},{id_of(member_of(12, 0))},9000,5000,8653846,3582692308)"),
    entry(f"CALL change_edge({OWNER},{MEMBER},0,-1,9000,9,0,0,5000)"),
    entry(f"SELECT 1 FROM following FORCE INDEX (newest) WHERE state = 1 AND src = {OWNER} LIMIT 1"),
    entry(f"SELECT EXISTS (SELECT 1 FROM following FORCE INDEX (PRIMARY) WHERE src = {OWNER}) OR EXISTS (SELECT 1 FROM"
          f" follower FORCE INDEX (PRIMARY) WHERE dst = {OWNER}) OR EXISTS (SELECT 1 FROM author WHERE author_id ="
          f" {OWNER})"),

    # Counters.
    *[each for table, column in [("user_fan", "fans_cnt"), ("user_rel", "following_cnt")] for each in (
        entry(f"SELECT user_id, {column} FROM {table} FORCE INDEX (PRIMARY) WHERE user_id IN ([])",
              listed(owners(LIST))),
        entry(f"INSERT INTO {table} (user_id, {column}) VALUES [] ON DUPLICATE KEY UPDATE {column} = {column} +"
              f" VALUES({column})", [row(user, -1) for user in owners(LIST)]))],
    entry("INSERT INTO user_fan (user_id) VALUES [] ON DUPLICATE KEY UPDATE user_id = user_id", [row(OWNER)]),
    entry("INSERT INTO user_rel (user_id) VALUES [] ON DUPLICATE KEY UPDATE user_id = user_id",
          [row(user) for user in owners(LIST)]),
    *[entry(f"UPDATE {table} SET {column} = {column} + (1), epoch = epoch + 1 WHERE user_id = {OWNER} AND epoch = 0")
      for table, column in [("user_fan", "fans_cnt"), ("user_rel", "following_cnt")]],
    entry(f"SELECT user_id FROM user_rel WHERE following_cnt > 0 AND user_id > {OTHER} ORDER BY user_id LIMIT {PAGE}"),
    entry(f"SELECT COALESCE((SELECT following_cnt FROM user_rel WHERE user_id = {OWNER}), 0), COALESCE((SELECT"
          f" fans_cnt FROM user_fan WHERE user_id = {OWNER}), 0)"),
    entry(f"SELECT COUNT(*) FROM following FORCE INDEX (newest) WHERE state = 1 AND delivery = 2 AND src = {OWNER}",
          more=PER_OWNER, why=_COUNTED),
    *[each for counted in [("user_fan", "fans_cnt", "follower", "dst", "bucket", 64, 127),
                           ("user_rel", "following_cnt", "following", "src", "dst", 0, 1 << 63)]
      for each in _counter(*counted)],
    entry(f"SELECT after_user, after_user > 0 OR began + 9 <= {_NOW} FROM counter_sweep"),
    *[entry(f"INSERT INTO counter_sweep (began, after_user) VALUES ({_NOW},{OWNER}) ON DUPLICATE KEY UPDATE began ="
            f" IF(after_user = {OTHER}, {began}, began), after_user = IF(after_user = {OTHER}, {OWNER}, after_user)")
      for began in ("began", _NOW)],
    entry(_looked("user_rel", "following_cnt", "following", "src", 0) + " UNION ALL "
          + _looked("user_fan", "fans_cnt", "follower", "dst", 1), *[listed(owners(LIST))] * 4,
          more=4 * LIST * PER_OWNER, why=_COUNTED),
    entry(" UNION ALL ".join([_owners_of(0, "user_rel", "user_id"), _owners_of(1, "user_fan", "user_id"),
                              _owners_of(2, "following", "src"), _owners_of(3, "follower", "dst")]),
          more=4 * 4 * PAGE, why=_WALK),
    entry("INSERT INTO recount (user_id, counter) VALUES [] ON DUPLICATE KEY UPDATE user_id = user_id",
          [row(user, 1) for user in owners(LIST)]),
    entry(f"SELECT user_id, counter FROM recount ORDER BY at LIMIT {PAGE}"),
    entry(f"DELETE FROM recount WHERE user_id = {OWNER} AND counter = 1"),

    # The log of changes.
    entry(f"SELECT id, {_LOGGED} WHERE done = 0 AND id > 50000 ORDER BY id LIMIT {PAGE}"),
    entry("SELECT COALESCE(MAX(id), 0) FROM log1"),
    entry(f"SELECT id, {_LOGGED_BY} (PRIMARY) WHERE done = 0 AND id IN ([])", listed(range(50_000, 50_000 + IDS))),
    entry(f"SELECT * FROM (SELECT id, {_LOGGED} WHERE done = 0 AND id > 0 ORDER BY id LIMIT {PAGE}) AS oldest WHERE"
          f" kind = 1 AND src = {OWNER} AND dst = {MEMBER} ORDER BY id",
          more=3 * PAGE, why="looks through the oldest pending rows, as many as its limit"),
    entry(f"SELECT COUNT(*) FROM (SELECT 1 FROM log1 FORCE INDEX (pending) WHERE done = 0 LIMIT {PAGE}) AS counted",
          more=3 * PAGE, why="counts pending rows, at most its limit"),
    entry(f"SELECT id, ts < NOW(3) - INTERVAL 600 SECOND FROM log1 FORCE INDEX (pending) WHERE done = 1 AND id <="
          f" COALESCE((SELECT after_id FROM log_scan), 18446744073709551615) ORDER BY id"
          f" LIMIT {PAGE}"),
    entry(f"SELECT id, {_LOGGED_BY} (PRIMARY) WHERE id > 50000 ORDER BY id LIMIT {PAGE}"),
    entry(f"SELECT COALESCE(MAX(after_id), 0), COALESCE(MAX(up_to), 0), {_NOW} FROM log_scan"),
    entry("INSERT INTO log_scan (after_id, up_to) VALUES (7,8) ON DUPLICATE KEY UPDATE up_to = IF(after_id = 6, 8,"
          " up_to), after_id = IF(after_id = 6, 7, after_id)"),
    entry("SELECT src, dst, friend_version FROM following FORCE INDEX (PRIMARY) WHERE (src, dst) IN ([])",
          [row(*edge) for edge in edges(LIST)]),
    entry("UPDATE log1 FORCE INDEX (PRIMARY) SET done = 1 WHERE done = 0 AND id IN ([]) AND (id, kind, src, dst, ver) IN"
          " ([])", listed(range(50_000, 50_000 + MARKS)), [row(50_000 + i, 1, *edge, 1) for i, edge in enumerate(edges(MARKS))]),
    entry("DELETE FROM log1 WHERE done = 1 AND id IN ([])", listed(range(50_000, 50_000 + LIST))),
    entry("INSERT INTO log1 (kind, src, dst, ver, state, pos) VALUES []", [row(1, OWNER, MEMBER, 9, 1, AT)]),
    entry("INSERT INTO log1 (kind, src, dst, ver, state, pos, delivery) VALUES []", [row(1, OWNER, MEMBER, 9, 1, AT, 0)]),
    entry("INSERT INTO repair_log (net, cause, src, dst, before_value, after_value, ver) VALUES []",
          [row("'pair'", "'stale'", OWNER, MEMBER, "''", "''", 9)]),
    *[entry(f"SELECT net, cause, src, dst, before_value, after_value, ver, at FROM (SELECT * FROM repair_log ORDER BY"
            f" id DESC LIMIT 10000) AS newest WHERE {which} ORDER BY id DESC LIMIT 10",
            more=3 * 10_000, why="feedctl looks through the newest repairs, as many as its limit")
      for which in (f"src = {OWNER} AND dst = {MEMBER}", f"(src = {OWNER} OR dst = {OWNER})")],
    entry(f"SELECT id FROM repair_log FORCE INDEX (by_time) WHERE at < {_NOW} - 1 ORDER BY at LIMIT {PAGE}"),
    entry("DELETE FROM repair_log WHERE id IN ([])", listed(range(50_000, 50_000 + IDS))),

    # The full scan.
    entry(f"SELECT {_PLACE} FROM full_scan WHERE edges = 'following' AND shard = 0"),
    entry(f"SELECT {_PLACE}, edges, shard, {_NOW} FROM full_scan ORDER BY edges, shard"),
    entry(f"SELECT {_NOW}"),
    entry("INSERT IGNORE INTO full_scan (edges, shard) VALUES []", [row("'following'", 0)]),
    entry("SELECT COALESCE(MIN(proved), 0) FROM full_scan WHERE edges IN ('following', 'follower') AND shard = 0 HAVING"
          " COUNT(*) = 2"),
    entry(f"UPDATE full_scan SET {_placed(', ')} WHERE edges = 'following' AND shard = 0 AND {_placed(' AND ')}"),
    *[entry(f"SELECT src, dst, {middle}, {_DIGEST} FROM {table} FORCE INDEX (PRIMARY) WHERE ({behind}) ORDER BY {order}"
            f" LIMIT {PAGE}")
      for table, middle, order, behind in [
          ("following", "0", "src,dst", f"src = {OWNER} AND dst > {MEMBER} OR src > {OWNER}"),
          ("follower", "bucket", "dst,bucket,src", f"dst = {OTHER} AND bucket = {bucket(MEMBER)} AND src > {MEMBER} OR"
           f" dst = {OTHER} AND bucket > {bucket(MEMBER)} OR dst > {OTHER}")]],
    *[entry(f"SELECT BIT_XOR({_DIGEST}) FROM (SELECT {_EDGE} FROM {table} FORCE INDEX (PRIMARY) WHERE ({key}) IN ([]))"
            " AS wanted", keys)
      for table, key, keys in [("following", "src, dst", _POST_KEYS), ("follower", "dst, bucket, src", _REVERSE_KEYS)]],

    # Friendships.
    entry(f"SELECT state, asked_by, ver FROM friend_request WHERE {KEY}"),
    entry(f"SELECT state, asked_by, ver FROM friend_request WHERE {KEY} FOR UPDATE"),
    entry("INSERT INTO friend_request (low, high, ver, state, asked_by) VALUES [] ON DUPLICATE KEY UPDATE ver = ver",
          [row(OTHER, OWNER, 0, 0, 0)]),
    entry(f"UPDATE friend_request SET state = 1, asked_by = {OWNER}, ver = 9 WHERE {KEY}"),

    # Mutes.
    entry(f"SELECT version, authors FROM mute WHERE reader_id = {OWNER}"),
    entry(f"SELECT version, authors FROM mute WHERE reader_id = {OWNER} FOR UPDATE"),
    entry("INSERT INTO mute (reader_id, version, authors) VALUES [] ON DUPLICATE KEY UPDATE version = version",
          [row(OWNER, 0, "''")]),
    entry(f"SELECT reader_id, version FROM mute WHERE authors <> '' AND reader_id > {OTHER} ORDER BY reader_id"
          f" LIMIT {PAGE}"),
    entry(f"UPDATE mute SET version = 9, authors = x'0000000000000007' WHERE reader_id = {OWNER}"),

    # Small tables.
    entry("SELECT horizon FROM tombstone_sweep"),
    entry("INSERT INTO tombstone_sweep (horizon) VALUES [] ON DUPLICATE KEY UPDATE horizon = GREATEST(horizon,"
          " VALUES(horizon))", [row(AT)]),
    entry(f"SELECT after_src, after_dst, horizon >= {AT} AND (after_src > 0 OR began > {_NOW} OR began + 9 <= {_NOW}) FROM"
          " tombstone_sweep"),
    *[entry(f"UPDATE tombstone_sweep SET began = {began}, after_src = 7, after_dst = 8 WHERE after_src = 0 AND after_dst"
            " = 0") for began in ("began", _NOW)],
    entry("SELECT reverse_shard, dst, bucket, src, is_over, began FROM forward_restore"),
    entry("INSERT INTO forward_restore (reverse_shard, dst, bucket, src, is_over) VALUES [] ON DUPLICATE KEY UPDATE dst ="
          " VALUES(dst), bucket = VALUES(bucket), src = VALUES(src), is_over = VALUES(is_over)",
          [row(0, OWNER, 7, MEMBER, 0)]),
    entry("DELETE FROM forward_restore"),
    entry("UPDATE counter_sweep SET began = 0, after_user = 0"),
    entry("SELECT range_id FROM range_owner"),
    entry("SELECT epoch FROM range_owner WHERE range_id = 3 FOR UPDATE"),
    entry("INSERT INTO range_owner (range_id, epoch) VALUES [] ON DUPLICATE KEY UPDATE epoch = epoch", [row(3, 0)]),
    entry("UPDATE range_owner SET epoch = 1 WHERE range_id = 3"),
    entry("INSERT INTO range_start (range_id, token, epoch) VALUES [] ON DUPLICATE KEY UPDATE epoch = VALUES(epoch)",
          [row(3, 7, 1)]),
    entry("SELECT token, hint FROM range_start WHERE range_id = 3"),
    entry("SELECT range_id FROM range_start"),
    entry("UPDATE range_start SET hint = 9 WHERE range_id = 3 AND token = 7"),
    entry("DELETE FROM range_start WHERE range_id = 3 AND (token = 7 OR epoch <= 1)"),
    entry("DELETE FROM range_start WHERE range_id = 3 AND epoch <= 1 AND NOT token = 7"),
    entry("DELETE FROM range_start WHERE range_id = 3 AND token <> 7 ORDER BY epoch LIMIT 1"),
    entry("INSERT INTO removal_allowance (edges, shard) VALUES [] ON DUPLICATE KEY UPDATE taken = taken",
          [row("'follower'", 0)]),
    entry(f"SELECT began, taken, opened, {_NOW} FROM removal_allowance WHERE edges = 'follower' AND shard = 0 FOR UPDATE"),
    entry(f"UPDATE removal_allowance SET began = {AT}, taken = 50, opened = 0 WHERE edges = 'follower' AND shard = 0"),
    entry("SELECT edges, shard, opened FROM removal_allowance"),
    entry("SELECT value FROM setting WHERE name = 'mirror_mode'"),
    entry("INSERT INTO setting (name, value) VALUES [] ON DUPLICATE KEY UPDATE value = VALUES(value)",
          [row("'mirror_mode'", "'sync'")]),
    entry("INSERT INTO setting (name, value) VALUES [] ON DUPLICATE KEY UPDATE value ="
          " GREATEST(CAST(value AS UNSIGNED) + 1, CAST(VALUES(value) AS UNSIGNED))",
          [row("'breaker_closings'", "FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000)")]),
    entry("SELECT schema_version,buckets,partitions,shard_count,shard_index,shard_map,generation,feed_topic,"
          "tasks_topic,timeline_window,timeline_max_entries,following_limit,own_posts FROM installation"),
    entry("SELECT schema_version FROM installation"),
    entry("SELECT shard_count, shard_index FROM installation"),
]

_SESSION = "touches no table"
_BULK = "a bulk import writes, counts and compares whole tables"
_APPLICATION = "tables of an application, with keys of its own (docs/relations-contract.md, docs/api.md)"
_TEST = "only a test says it"
EXCEPTIONS = [(re.compile(pattern), why) for pattern, why in [
    (r"SET (SESSION |NAMES |TRANSACTION |autocommit|@)|START TRANSACTION$|COMMIT$|ROLLBACK$|SELECT \?$|SELECT @@", _SESSION),
    (r"SHOW GLOBAL VARIABLES WHERE |SHOW$|SELECT DATABASE\(\)$|SELECT @rpl_semi_sync_slave=\?$|select @@binlog_checksum$", "where the binary log ends, and what is in it"),
    (r"CREATE (TABLE IF NOT EXISTS|PROCEDURE) \w+$|DROP PROCEDURE IF EXISTS \w+$", "feedctl init"),
    (r"INSERT IGNORE INTO (installation|migration) |SELECT number FROM migration$|ALTER TABLE \w+ ADD COLUMN ", "feedctl init"),
    (r"SELECT COUNT\(\*\) FROM information_schema\.(tables|routines) WHERE (table|routine)_schema = DATABASE\(\) ", "feedctl init"),
    (r"SELECT COALESCE\(table_rows,\?\) FROM information_schema\.tables ", "a guess that the server keeps"),
    (r"SELECT COUNT\(\*\) FROM information_schema\.statistics ", _APPLICATION),
    (r"LOAD DATA LOCAL INFILE ", _BULK),
    (r"SELECT COUNT\(\*\), COALESCE\(SUM\(following_cnt - \?\),\?\) FROM user_rel WHERE following_cnt > \?$", _BULK),
    (r"SELECT COUNT\(\*\) FROM (following|follower)( WHERE state = \?)?$", _BULK),
    (r"SELECT COALESCE\(SUM\((following|fans)_cnt\),\?\) FROM user_(rel|fan)$", _BULK),
    (r"INSERT INTO user_(rel|fan) \(user_id, \w+\) SELECT \w+, COUNT\(\*\) FROM ", _BULK),
    (r"(INSERT INTO|SELECT|UPDATE) `|SELECT BIT_XOR\(.*\) FROM \(SELECT `", _APPLICATION),
    (r"KILL |SHOW |SIGNAL |SELECT SLEEP|SELECT .* FROM information_schema\.|SELECT COUNT\(\*\) FROM author$", _TEST),
    (r"SELECT CONCAT\(src,|UPDATE user_(rel|fan) SET \w+ = \w+ \+ \(\?\)$|UPDATE user_fan SET fans_cnt = fans_cnt WHERE |UPDATE setting SET ", _TEST),
    (r"UPDATE author SET last_at = |INSERT INTO author .* (last_at = last_at \+ \?|VALUES \(\?,\?\)\+)$", _TEST),
    (r"SELECT nonsense$|SELECT CHAR_LENGTH|SELECT \? FROM missing$|SELECT CONNECTION_ID\(\)(, SLEEP\(\?\))?$", _TEST),
]]


def answer_to(shape):
    """The entry or the reason of an exception; None: a new shape."""
    for pattern, why in EXCEPTIONS:
        if pattern.match(shape):
            return why
    return _BY_SHAPE.get(shape)


_BY_SHAPE = {each.shape: each for each in ENTRIES}
assert len(_BY_SHAPE) == len(ENTRIES), "a shape stands once"
assert OWNERS >= LIST
