"""Everything the demo's users do, drawn from one seed: the same seed, graph and clock make the same
posts, deletes, duplicates and delays."""

import itertools
import json
import random
from typing import NamedTuple

REFERENCE_USERS = 75_879  # of the Epinions graph; smaller ones get less of everything


class Event(NamedTuple):
    kind: str
    post: int
    author: int
    created_at_ms: int = 0  # of a publish
    version: int = 0  # of a hide, unhide or edit
    repost_of: tuple = ()  # of a publish: (post, author) that it shows

    def encode(self):
        """The JSON of docs/producers.md."""
        fields = {"schema_version": 1, "type": f"post.{self.kind}", "post_id": str(self.post),
                  "author_id": str(self.author)}
        if self.kind == "published":
            fields["created_at_ms"] = self.created_at_ms
            if self.repost_of:
                post, author = self.repost_of
                fields["repost_of"] = {"post_id": str(post), "author_id": str(author)}
        elif self.version:
            fields["version"] = self.version
        return json.dumps(fields, separators=(",", ":")).encode()


class Sending(NamedTuple):
    event: Event
    again: bool  # delivered before: not a distinct event


class Plan(NamedTuple):
    """How much of everything."""
    history: int  # posts before anybody reads
    events: int  # distinct ones after
    by_everybodys: int  # of them, published by the author everybody follows
    by_tenths: int  # by the author every tenth user follows
    live: int  # users whose timelines are live
    unfollows: int
    least_trimmed: int  # timelines that must have been cut back to the window


def plan_for(users):
    """For a graph as large as Epinions or larger; in proportion for a smaller one. What makes a
    timeline overflow is not scaled: 600 posts of one author."""
    share = min(1.0, users / REFERENCE_USERS)
    live = max(1, min(users // 5, 20_000))
    overflowing = live // 10  # about so many of them follow the author of the 600
    return Plan(history=max(500, round(5_000 * share)), events=max(2_000, round(20_000 * share)),
                by_everybodys=20, by_tenths=600, live=live, unfollows=max(10, round(1_000 * share)),
                least_trimmed=min(1_000, overflowing * 2 // 3))


class Workload:
    """Draws events. Post ids are given out from `first_post`; an author's chance to post is their
    number of followers in the graph."""

    DELETES, HIDES, EDITS = 0.02, 0.01, 0.01  # of the events
    UNHIDDEN = 0.5  # of the hides
    REPOSTS = 0.1  # of the events: of the publishes so many
    POPULAR = 0.75  # of the reposts show one post, which is deleted in the end
    EARLY = 0.25  # of deletes and hides: arrive before their publish
    LATE = 0.02  # of publishes: arrive long after they were made
    AGAIN = 0.015  # of all events: arrive twice

    def __init__(self, seed, followers, first_post=1):
        self._random = random.Random(seed)
        self._authors = sorted(followers)
        self._weights = list(itertools.accumulate(len(followers[a]) for a in self._authors))
        self._post_ids = itertools.count(first_post)
        self._alive = {}  # post -> author, of posts no event is about yet
        self._reposts = set()

    def history(self, count, now_ms, days=30):
        """Posts of the last days, in the order they were made."""
        ages = sorted((self._random.randrange(days * 86_400_000) for _ in range(count)),
                      reverse=True)
        return [self.publish(author, now_ms - age)
                for author, age in zip(self._draw_authors(count), ages)]

    def events(self, count, now_ms, special=()):
        """`count` distinct events, some of them delivered twice, as a list of Sendings. `special`:
        pairs of an author and how many of the publishes are theirs. The rest of the publishes, the
        deletes, hides and edits are drawn."""
        named = [author for author, posts in special for _ in range(posts)]
        deletes, hides, edits = (round(count * share)
                                 for share in (self.DELETES, self.HIDES, self.EDITS))
        unhides = round(hides * self.UNHIDDEN)
        popular = self._popular()
        publishes = count - deletes - hides - unhides - edits - bool(popular)
        authors = named + self._draw_authors(publishes - len(named))
        self._random.shuffle(authors)

        reposts = set(self.sample([place for place, author in enumerate(authors) if author not in dict(special)],
                                  round(count * self.REPOSTS))) if popular else ()
        placed = []  # (place, event): made now, two per millisecond, arriving at `place`
        made_at = {}
        for place, author in enumerate(authors):
            event = self.publish(author, now_ms + place // 2, self._original(popular) if place in reposts else ())
            made_at[event.post] = place
            placed.append((self._delayed(place, publishes), event))
        if popular:
            placed.append((self._random.uniform(0.95 * publishes, publishes), Event("deleted", *popular)))
        targets = self._targets(deletes + hides + edits, {author for author, _ in special})
        for number, (post, author) in enumerate(targets):
            made = made_at.get(post, 0)
            if number < deletes:
                placed.append((self._around(made, publishes), Event("deleted", post, author)))
            elif number < deletes + hides:
                place = self._around(made, publishes)
                placed.append((place, Event("hidden", post, author, version=1)))
                if number < deletes + unhides:
                    place = self._around(made, publishes)
                    placed.append((place, Event("unhidden", post, author, version=2)))
            else:
                place = self._around(made, publishes)
                placed.append((place, Event("edited", post, author, version=1)))
        return self._with_duplicates(placed, publishes)

    @property
    def random(self):
        """For what else is to be decided by the seed."""
        return self._random

    def sample(self, things, count):
        return self._random.sample(things, min(count, len(things)))

    def shuffle(self, things):
        self._random.shuffle(things)

    def edges(self, readers, following, count):
        """Edges of these readers, each edge as likely as the other."""
        edges = [(reader, author) for reader in sorted(readers)
                 for author in sorted(following[reader])]
        return self.sample(edges, count)

    def _draw_authors(self, count):
        return self._random.choices(self._authors, cum_weights=self._weights, k=count)

    def publish(self, author, created_at_ms, repost_of=()):
        """A post with an id of its own."""
        event = Event("published", next(self._post_ids), author, created_at_ms, repost_of=repost_of)
        self._alive[event.post] = author
        if repost_of:
            self._reposts.add(event.post)
        return event

    def _popular(self):
        """(post, author) of one that is there before, which nothing else becomes of; none: there is none."""
        if not (posts := sorted(self._alive.keys() - self._reposts)):
            return ()
        post = self._random.choice(posts)
        return post, self._alive.pop(post)

    def _original(self, popular):
        """What a repost shows: mostly the popular one, else any post, whatever becomes of it."""
        post = self._random.choice(list(self._alive))
        if post in self._reposts or self._random.random() < self.POPULAR:
            return popular
        return post, self._alive[post]

    def _targets(self, count, special):
        """Different posts, which no later draw will meet again; of each special author at least
        one, so that a delete reaches many."""
        chosen = []
        for author in sorted(special):
            own = [post for post, by in self._alive.items() if by == author]
            chosen += self.sample(own, 1)
        rest = sorted(self._alive.keys() - set(chosen))
        chosen += self.sample(rest, count - len(chosen))
        return [(post, self._alive.pop(post)) for post in chosen]

    def _delayed(self, place, end):
        if self._random.random() < self.LATE:
            return self._random.uniform(place, end)
        return place

    def _around(self, made, end):
        """Mostly after a post was made, sometimes before."""
        if self._random.random() < self.EARLY:
            return self._random.uniform(0, made)
        return self._random.uniform(made, end)

    def _with_duplicates(self, placed, end):
        sendings = [(place, Sending(event, False)) for place, event in placed]
        for place, event in self.sample(placed, round(len(placed) * self.AGAIN)):
            sendings.append((self._random.uniform(place, end), Sending(event, True)))
        return [sending for _, sending in sorted(sendings, key=lambda pair: pair[0])]


def split(sendings, shares):
    """Cut into consecutive parts with these shares of the distinct events."""
    distinct = sum(not sending.again for sending in sendings)
    ends = [round(distinct * share) for share in itertools.accumulate(shares)]
    parts, seen = [[] for _ in shares], 0
    for sending in sendings:
        seen += not sending.again
        part = next((i for i, end in enumerate(ends) if seen <= end), len(shares) - 1)
        parts[part].append(sending)
    return parts


def count_distinct(sendings):
    return sum(not sending.again for sending in sendings)
