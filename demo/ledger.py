"""The outcome that all the demo does must have, kept without a look at Fanline: who follows
whom, and which posts are visible, by the rules an application is told (docs/producers.md)."""

from typing import NamedTuple


class Visible(NamedTuple):
    author: int
    post: int
    created_at_ms: int


class _Post:
    __slots__ = ("author", "created_at_ms", "deleted", "hidden", "version")

    def __init__(self, author):
        self.author = author
        self.created_at_ms = None
        self.deleted = self.hidden = False
        self.version = 0

    @property
    def visible(self):
        return self.created_at_ms is not None and not (self.deleted or self.hidden)


class Ledger:
    def __init__(self, followers, own_posts=False):
        """`followers`: author -> set of readers; taken over, not copied. `own_posts`: home
        timelines hold the reader's own posts."""
        self.followers = followers
        self._own_posts = own_posts
        self._posts = {}

    def follow(self, reader, author):
        self.followers.setdefault(author, set()).add(reader)

    def unfollow(self, reader, author):
        self.followers[author].discard(reader)

    def apply(self, event):
        """Any event, in any order, as often as you like."""
        post = self._posts.setdefault(event.post, _Post(event.author))
        if event.kind == "published":
            if post.created_at_ms is None:  # the first one counts
                post.created_at_ms = event.created_at_ms
        elif event.kind == "deleted":
            post.deleted = True  # for ever
        elif event.kind in ("hidden", "unhidden") and event.version > post.version:
            post.hidden, post.version = event.kind == "hidden", event.version

    def edges(self):
        """(reader, author) of everyone who follows."""
        return {(reader, author) for author, readers in self.followers.items()
                for reader in readers}

    def author_of(self, post):
        """None: of a post that it does not know."""
        return self._posts[post].author if post in self._posts else None

    def visible(self):
        return {Visible(post.author, number, post.created_at_ms)
                for number, post in self._posts.items() if post.visible}

    def timelines(self, readers):
        """Reader -> all that belongs into their timeline were it endless, newest first, as
        (created_at_ms, post id, author)."""
        outboxes = {}
        for author, post, created_at_ms in self.visible():
            outboxes.setdefault(author, []).append((created_at_ms, post, author))
        wanted = {reader: [] for reader in readers}
        for author, items in outboxes.items():
            readers = self.followers.get(author, set()) | ({author} if self._own_posts else set())
            for reader in readers & wanted.keys():
                wanted[reader] += items
        for items in wanted.values():
            items.sort(key=newest_first)
        return wanted


def newest_first(item):
    """The one order of all timelines: newest first, of the same millisecond the higher id first."""
    created_at_ms, post, _ = item
    return -created_at_ms, -post
