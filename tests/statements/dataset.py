"""100,000 rows in every table that grows with users, with ids of 1, 10, 16, 19 and 20 digits mixed."""

from pathlib import Path

from stack.workspace import ROOT

ROWS = 100_000
OWNERS = 1_000  # each has 100 followed users, the same as followers, and 100 posts
PER_OWNER = ROWS // OWNERS
STARTED = 1_700_000_000_000  # Unix ms

_IDS = [1_000_000_000, 1_000_000_000_000_000, (1 << 63) - 1, (1 << 64) - 2]  # 10, 16, 19, 20 digits
_STEPS = [1, 9_007, -977, -977]


def id_of(n):
    """The n-th user, from 1."""
    return n if n < 10 else _IDS[n % 4] + _STEPS[n % 4] * n


def member_of(owner, k):
    """The n of the k-th user whom the owner-th user follows and is followed by."""
    return 1 + ((owner - 1 + OWNERS * k) * 7 + k) % ROWS


def _id_sql(n):
    cases = " ".join(f"WHEN {i} THEN {_IDS[i]} {'+' if _STEPS[i] > 0 else '-'} {abs(_STEPS[i])} * ({n})"
                     for i in range(4))
    return f"CAST(IF(({n}) < 10, {n}, CASE ({n}) % 4 {cases} END) AS UNSIGNED)"


_USER = _id_sql("1 + seq")
_OWNER = _id_sql(f"1 + seq % {OWNERS}")
_MEMBER = _id_sql(f"1 + (seq * 7 + seq DIV {OWNERS}) % {ROWS}")
_LOW, _HIGH = f"LEAST({_OWNER}, {_MEMBER})", f"GREATEST({_OWNER}, {_MEMBER})"

_FILL = [
    ("author (author_id, last_at)", f"{_USER}, {STARTED} + seq"),
    ("author_mode (author_id, pull, marked)", f"{_USER}, 0, 1"),
    ("user_rel (user_id, following_cnt)", f"{_USER}, {PER_OWNER}"),
    ("mute (reader_id, version, authors)", f"{_USER}, 1, x'0000000000000007'"),
    ("user_fan (user_id, fans_cnt)", f"{_USER}, IF(seq % 2, {PER_OWNER}, -1)"),
    ("recount (user_id, counter)", f"{_USER}, 1"),
    ("following (src, dst, ver, state, pos)", f"{_OWNER}, {_MEMBER}, 1, 1, {STARTED} + seq"),
    ("follower (dst, bucket, src, ver, state, pos)",
     f"{_OWNER}, CRC32({_MEMBER}) % 1024, {_MEMBER}, 1, 1, {STARTED} + seq"),
    ("author_post (author_id, post_id, created_at_ms)", f"{_OWNER}, {_MEMBER}, {STARTED} + seq"),
    ("repost (original_id, author_id, post_id)", f"{_OWNER}, {_MEMBER}, {_USER}"),
    ("log1 (kind, src, dst, ver, state, pos, ts, done)",
     f"1, {_OWNER}, {_MEMBER}, 1, 1, seq, NOW(3) - INTERVAL 9 DAY, (seq DIV 1000 + 1) % 2"),
    ("friend_request (low, high, ver, state, asked_by)", f"{_LOW}, {_HIGH}, 1, 2, {_LOW}"),
    ("repair_log (net, cause, src, dst, before_value, after_value, ver)",
     f"'pair', 'missing', {_OWNER}, {_MEMBER}, '', '', 1"),
]
TABLES = [table.split(" ", 1)[0] for table, _ in _FILL]


def fill(client):
    schemas = ROOT / "schemas" / "sql"
    for statement in _without_comments(schemas / "shard.sql").split(";"):
        if statement.strip():
            client.query(statement)
    for procedure in ("change_edge.sql", "follow_new_edge.sql"):
        client.query(_without_comments(schemas / procedure))
    client.query("CREATE TEMPORARY TABLE number (seq BIGINT UNSIGNED PRIMARY KEY)")
    client.query(f"INSERT INTO number VALUES {','.join(f'({seq})' for seq in range(ROWS))}")
    for table, values in _FILL:
        client.query(f"INSERT IGNORE INTO {table} SELECT {values} FROM number")
    client.query(f"ANALYZE TABLE {', '.join(TABLES)}")


def _without_comments(path: Path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line.split("--", 1)[0] for line in lines)
