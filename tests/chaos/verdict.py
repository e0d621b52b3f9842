"""What must be true when nothing is left to do: the model of what was acknowledged beside all
there is in MariaDB, Redis and the dead letters."""

import time
from typing import NamedTuple

from demo.check import check_timelines, take_swept
from demo.ledger import Ledger
from stack.programs.feedctl import FeedctlFailed
from stack.programs.timelines import read_timelines
from stack.waiting import wait_until
from tests.chaos import dead_letters

_EXAMPLES = 3
_POST = ("SELECT author_id, post_id, IFNULL(created_at_ms, 0), deleted, hidden, visibility_version,"
         " edit_version, IFNULL(original_id, 0), IFNULL(original_author, 0) FROM author_post")
_EDGES = "SELECT src, dst, delivery FROM {} WHERE state = 1"
_DELIVERIES = ("all", "no_reposts", "none")  # by number (schemas/sql/shard.sql)


class Post(NamedTuple):
    author: int
    post: int
    created_at_ms: int = 0
    deleted: int = 0
    hidden: int = 0
    visibility_version: int = 0
    edit_version: int = 0
    original: int = 0
    original_author: int = 0

    def after(self, event):
        """By the rules an application is told (docs/producers.md), in any order."""
        if event.kind == "published":
            original, author = event.repost_of or (0, 0)
            return self._replace(created_at_ms=self.created_at_ms or event.created_at_ms, original=original,
                                 original_author=author)
        if event.kind == "deleted":
            return self._replace(deleted=1)
        if event.kind == "edited":
            return self._replace(edit_version=max(self.edit_version, event.version))
        if event.version <= self.visibility_version:
            return self
        return self._replace(hidden=int(event.kind == "hidden"), visibility_version=event.version)


class Model:
    """Of what was acknowledged: all events, and of each changed edge the last change."""

    def __init__(self, followers, events, expected):
        self.ledger = Ledger({author: set(readers) for author, readers in followers.items()})
        self.posts = {}
        for event in events:
            self.ledger.apply(event)
            post = self.posts.get(event.post) or Post(event.author, event.post)
            self.posts[event.post] = post.after(event)
        for (reader, author), delivery in expected.items():
            if delivery:
                self.ledger.follow(reader, author)
                self.ledger.choose(reader, author, delivery)
            else:
                self.ledger.unfollow(reader, author)


    def take_swept(self, shards):
        for post in take_swept(self.ledger, shards):
            self.posts[post] = self.posts[post]._replace(deleted=1)


def judge(rig, model):
    """What is wrong, in lines; and the audit."""
    _stop_sweeping(rig)
    model.take_swept(rig.stack.mysql)
    wrong = [*rig.complaints, *rig.stack.failures()]
    wrong += _posts(rig, model) + _relations(rig, model) + dead_letters.wrong(rig) + _counted(rig)
    audit = rig.feedctl.json("audit", "--json", codes=(0, 1))
    if not audit["good"]:
        wrong.append(f"audit: {audit}")
    timelines = read_timelines(rig.redis)
    inexact = check_timelines(timelines, model.ledger)
    wrong += [f"timeline of {reader}: {verdict}"[:400] for reader, verdict
              in sorted(inexact.items())[:_EXAMPLES]]
    if len(inexact) > _EXAMPLES:
        wrong.append(f"{len(inexact)} timelines are not what the model says")
    if set(timelines) != set(rig.users):
        wrong.append(f"{len(rig.users) - len(timelines)} timelines are not live")
    return wrong, audit


def _stop_sweeping(rig):
    """Reconcilers delete reposts of deleted posts whenever they come to them."""
    rig.feedctl.run("relations", "reconciler", "pause")
    time.sleep(3)  # they read it about once a second
    wait_until(lambda: not rig.left(), 120, "the last reposts to be swept")


def _posts(rig, model):
    rows = {Post(*map(int, row)) for shard in rig.stack.mysql for row in shard.query(_POST)}
    return _differ("rows of posts", set(model.posts.values()), rows)


def _relations(rig, model):
    edges = {(*edge, model.ledger.choice(*edge)) for edge in model.ledger.edges()}
    wrong = []
    for table in ("following", "follower"):
        rows = {(int(reader), int(author), _DELIVERIES[int(delivery)]) for shard in rig.stack.mysql
                for reader, author, delivery in shard.query(_EDGES.format(table))}
        wrong += _differ(f"rows of {table}", edges, rows)
    wrong += _differ("both directions", rig.relations.forward(), rig.relations.reverse())
    if drift := rig.relations.wrong_counters():
        wrong.append(f"{len(drift)} counters are not their rows, such as {drift[:_EXAMPLES]}")
    try:
        rig.feedctl.run("relations", "counters")
    except FeedctlFailed as error:
        wrong.append(str(error))
    return wrong


def _counted(rig):
    counters = rig.counters()
    return [f"{name} is {number:g}" for name in (
        "fanline_events_lost_total", "fanline_log_tails_lost_total",
        "fanline_events_rejected_total",
        "fanline_rel_undecodable_total") if (number := counters.total(name))]


def _differ(what, model, rows):
    return [f"{what}: {len(some)} {word}, such as {sorted(some)[:_EXAMPLES]}" for word, some in
            (("missing", model - rows), ("too many", rows - model)) if some]
