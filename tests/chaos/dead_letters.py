"""Dead letters of a run. No event, message or hint that the harness makes is bad, so there is none
but this: of a range whose pushers ended three times without a word, the hint is blamed that the last
was trying alone (the worker crashed on this hint again and again). Here it was the harness that
killed them. An operator who knows that has such letters replayed."""

from bisect import bisect

BLAMED = "the worker crashed on this hint again and again"
FORGIVEN = 2  # ends of a range's pushers


def replay_blamed(rig):
    """How many were replayed."""
    letters = _letters(rig)
    if blamed := [letter["letter"] for letter in letters if _is_blamed(letter)]:
        rig.feedctl.run("dlq", "replay", *blamed)
    return len(blamed)


def unsettled(rig):
    """Ranges of whose owners more are taken for crashed than pushers ended without a word. To hang
    for a while, or to lose a range, is no end."""
    ends = len(_ends(rig))
    return [f"{int(starts) - 1} starts of range {number} are not settled, and {ends} pushers ended "
            "without a word" for shard in rig.stack.mysql for number, starts in shard.query(
                "SELECT range_id, COUNT(*) FROM range_start GROUP BY range_id")
            if int(starts) - 1 > ends]


def _ends(rig):
    return sorted(end for kept in rig.role("pusher") for end in kept.wordless_ms)


def _unaccounted(rig, blamed):
    """Blamed letters for which no end accounts. A pusher that ends without a word leaves one hint
    at most that it was trying alone, and the first two of a range leave none."""
    ends = _ends(rig)
    return [letter for number, letter in
            enumerate(sorted(blamed, key=lambda letter: letter["set_aside_ms"]))
            if bisect(ends, letter["set_aside_ms"]) - FORGIVEN <= number]


def wrong(rig):
    letters = _letters(rig)
    blamed = [letter for letter in letters if _is_blamed(letter)]
    others = [letter for letter in letters if letter not in blamed]
    lines = []
    if others:
        lines.append(f"{len(others)} dead letters, such as {others[0]}")
    if unaccounted := _unaccounted(rig, blamed):
        lines.append(f"{len(unaccounted)} hints are blamed though too few pushers ended without a "
                     f"word, such as {unaccounted[0]}")
    if waiting := [letter for letter in blamed if not letter["replayed"]]:
        lines.append(f"{len(waiting)} dead letters are not replayed, such as {waiting[0]}")
    return lines


def _letters(rig):
    return rig.feedctl.json("dlq", "list", "--limit", 1000, "--json")["letters"]


def _is_blamed(letter):
    return letter["stage"] == "pusher" and letter["reason"] == BLAMED
