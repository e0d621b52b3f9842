"""Drawn mutants that no test can kill, each with the reason: they behave as the code does.

Keyed by (file, find, replace), so that an answer goes when the text does.
"""


def _swapped(file, first, second, why):
    return {(file, f"{first}\n{second}\n", f"{second}\n{first}\n"): why}


_READ_TO_ITS_END = ("behind the row comes the procedure's status, and `Connection::Call` throws when it is an "
                    "error: what the row said is dropped")

ANSWERS = {
    **_swapped("schemas/sql/change_edge.sql",
               "      COMMIT;",
               "      SELECT 0, old_ver, old_state, old_pos, old_choice, 0, 0;",
               _READ_TO_ITS_END),
    **_swapped("schemas/sql/change_edge.sql",
               "    ROLLBACK;",
               "    SELECT 2, 0, 0, 0, 0, 0, 0;",
               _READ_TO_ITS_END),
    **_swapped("schemas/sql/change_edge.sql",
               "  COMMIT;",
               "  SELECT 1, new_ver, wanted, new_pos, choice, below_zero, 0;",
               _READ_TO_ITS_END),
}
