"""How many followers users have, from a file, plain or gzipped: every line is a number, the followers of a user, or every
line is an edge as for feedctl import (who follows, and whom). '#' begins a comment. Repeated edges count again."""

import gzip
from collections import Counter

from bench.capacity_plan import Unusable


def read_degrees(path):
    """[(followers, how many users have as many)]. Unusable names file and line."""
    counts, degrees = [], Counter()  # the one or the other
    try:
        for number, words in _lines(path):
            try:
                ids = [int(word) for word in words]
            except ValueError:
                ids = []
            if len(ids) not in (1, 2) or min(ids) < 0:
                raise Unusable(f"{path}:{number}: neither a number of followers nor an edge, two ids")
            if len(ids) == 2 if counts else len(ids) == 1 and degrees:
                raise Unusable(f"{path}:{number}: a file has either counts or edges")
            if len(ids) == 1:
                counts.append(ids[0])
            else:
                follower, followed = ids
                degrees[follower] += 0
                degrees[followed] += follower != followed
    except (OSError, EOFError) as error:
        raise Unusable(f"cannot read {path}: {error}; give a file, fixed:N or power-law:MEAN:MOST") from None
    if not counts and not degrees:
        raise Unusable(f"{path}: names nobody")
    return sorted(Counter(counts or degrees.values()).items())


def _lines(path):
    with open(path, "rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    with gzip.open(path, "rt") if zipped else open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if words := line.partition("#")[0].split():
                yield number, words
