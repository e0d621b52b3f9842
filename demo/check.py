"""One timeline against what belongs into it."""

from typing import NamedTuple

from demo.ledger import newest_first


class Verdict(NamedTuple):
    missing: list  # (created_at_ms, post id, author)
    extra: list
    in_order: bool

    @property
    def exact(self):
        return self.in_order and not (self.missing or self.extra)


def take_swept(ledger, shards):
    """Notes which reposts of deleted posts a reconciler has deleted so far; their ids. It does nothing meanwhile."""
    return ledger.swept([int(post) for shard in shards for post, in shard.query(
        "SELECT post_id FROM author_post WHERE deleted = 1 AND original_id IS NOT NULL")])


def compare(timeline, wanted):
    """`wanted`: all that belongs into it, without end. A timeline is promised to be complete for
    times strictly newer than its floor; what it holds below that is not served and not judged."""
    promised = [item for item in wanted if item[0] > timeline.floor]
    served = [item for item in timeline.items if item[0] > timeline.floor]
    return Verdict(sorted(set(promised) - set(served)), sorted(set(served) - set(promised)),
                   served == sorted(served, key=newest_first))


def complaint_of_lost(lasting, live, share, when):
    """None when at least this share of the timelines that were to last are live."""
    kept, least = len(lasting & live), int(len(lasting) * share)
    if kept < least:
        return f"only {kept:,} timelines were live {when}, of at least {least:,}"
    return None


def check_timelines(timelines, ledger):
    """Reader -> Verdict of all that are not exact. A timeline under rebuild is never exact: nobody
    is rebuilding any more when this is asked."""
    wanted = ledger.timelines(timelines)
    wrong = {}
    for reader, timeline in timelines.items():
        if timeline.floor is None:
            wrong[reader] = Verdict(wanted[reader], [], False)
        elif not (verdict := compare(timeline, wanted[reader])).exact:
            wrong[reader] = verdict
    return wrong
