"""Dead letters of a run. No event, message or hint that the harness makes is bad, so there is none
but this: a pusher that dies three times at work on a range's hints blames the hint it was at (the
worker crashed on this hint again and again). Here it was the harness that killed it; an operator
who knows that has such letters replayed."""

BLAMED = "the worker crashed on this hint again and again"
FORGIVEN = 2  # deaths of a range's pusher before any hint is blamed


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
    # A pusher tries one hint at a time by then, so that each death blames one at most.
    deaths = sum(kept.abrupt_ends for kept in rig.role("pusher"))
    lines = []
    if others:
        lines.append(f"{len(others)} dead letters, such as {others[0]}")
    if len(blamed) > max(0, deaths - FORGIVEN):
        lines.append(f"{len(blamed)} hints are blamed for {deaths} deaths, such as {blamed[0]}")
    if waiting := [letter for letter in blamed if not letter["replayed"]]:
        lines.append(f"{len(waiting)} dead letters are not replayed, such as {waiting[0]}")
    return lines


def _letters(rig):
    return rig.feedctl.json("dlq", "list", "--limit", 1000, "--json")["letters"]


def _is_blamed(letter):
    return letter["stage"] == "pusher" and letter["reason"] == BLAMED
