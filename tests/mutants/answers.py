"""Drawn mutants that no test can kill, each with the reason: they behave as the code does.

Keyed by (file, find, replace), so that an answer goes when the text does.
"""


def _swapped(file, first, second, why):
    return {(file, f"{first}\n{second}\n", f"{second}\n{first}\n"): why}


_READ_TO_ITS_END = ("behind the row comes the procedure's status, and `Connection::Call` throws when it is an "
                    "error: what the row said is dropped")

ANSWERS = {
    **_swapped("fanline/consuming/partitions.cpp",
               "  partition.ledger.Reset(start);",
               "  DropSeek(assigned.partition);",
               "the ledger and the list of seeks know nothing of each other"),
    **_swapped("schemas/redis/timeline.lua",
               "  note_floor(maxfloor, newest[2])",
               "  redis.call('ZREMRANGEBYRANK', key, cut, card - 2)",
               "two keys of one script, and what goes to the highest floor was read before"),
    ("schemas/redis/apply.lua",
     "                   time_at[place] > bound)",
     "                   time_at[place] >= bound)"):
        "an item of the highest floor's own time sorts in front of any F: the tail that is looked at is F",
    **_swapped("schemas/sql/change_edge.sql",
               "      COMMIT;",
               "      SELECT 0, old_ver, old_state, old_pos, 0;",
               _READ_TO_ITS_END),
    **_swapped("schemas/sql/change_edge.sql",
               "    ROLLBACK;",
               "    SELECT 2, 0, 0, 0, 0;",
               _READ_TO_ITS_END),
    **_swapped("schemas/sql/change_edge.sql",
               "  COMMIT;",
               "  SELECT 1, new_ver, wanted, new_pos, below_zero;",
               _READ_TO_ITS_END),
    ("schemas/sql/change_edge.sql",
     "  IF origin < 3 AND (origin > 0 OR settles) THEN",
     "  IF origin < 3 AND (origin >= 0 OR settles) THEN"):
        "it spares users' changes a statement that would write what stands there",
    ("timeline/pull.cpp",
     "  if (items_.size() > most() && items_.back().created_at - 1 > span_.above.value_or(0)) {",
     "  if (items_.size() > most() && items_.back().created_at - 1 >= span_.above.value_or(0)) {"):
        "a span's end is set to what it is, or from nothing to 0, at which nothing is posted",
    **_swapped("timeline/pull.cpp",
               "    span_.up_to = span_.above;",
               "    span_.behind.reset();",
               "two fields, neither of which is read meanwhile"),
}
