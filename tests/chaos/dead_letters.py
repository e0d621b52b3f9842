"""Dead letters of a run. No event, message or hint that the harness makes is bad, so there is none
but this: of a range whose pushers ended three times without saying why, the hint is blamed that the
last was at (the worker crashed on this hint again and again). Here it was the harness that killed
them, or they were told to go while the shard was away where they would have said so. An operator
who knows that has such letters replayed."""

BLAMED = "the worker crashed on this hint again and again"


def replay_blamed(rig):
    """How many were replayed."""
    letters = _letters(rig)
    if blamed := [letter["letter"] for letter in letters if _is_blamed(letter)]:
        rig.feedctl.run("dlq", "replay", *blamed)
    return len(blamed)


def wrong(rig):
    letters = _letters(rig)
    blamed = [letter for letter in letters if _is_blamed(letter)]
    others = [letter for letter in letters if letter not in blamed]
    lines = []
    if others:
        lines.append(f"{len(others)} dead letters, such as {others[0]}")
    if waiting := [letter for letter in blamed if not letter["replayed"]]:
        lines.append(f"{len(waiting)} dead letters are not replayed, such as {waiting[0]}")
    return lines


def _letters(rig):
    return rig.feedctl.json("dlq", "list", "--limit", 1000, "--json")["letters"]


def _is_blamed(letter):
    return letter["stage"] == "pusher" and letter["reason"] == BLAMED
