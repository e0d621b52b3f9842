"""The outcome that all the demo does must have, kept without a look at Fanline: who follows
whom, and which posts are visible, by the rules an application is told (docs/producers.md)."""

from typing import NamedTuple


class Visible(NamedTuple):
    author: int
    post: int
    created_at_ms: int


class _Post:
    __slots__ = ("author", "created_at_ms", "deleted", "hidden", "version", "repost_of")

    def __init__(self, author):
        self.author = author
        self.created_at_ms = None
        self.repost_of = ()  # (post, author)
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
        self._choices = {}  # (reader, author) -> what the follow brings, if it is not "all"
        self._mutes = {}  # reader -> authors of whom nothing is shown

    def follow(self, reader, author):
        self.followers.setdefault(author, set()).add(reader)

    def unfollow(self, reader, author):
        self.followers[author].discard(reader)
        self._choices.pop((reader, author), None)

    def choose(self, reader, author, delivery):
        """What the follow, which is there, brings: "all", "no_reposts" or "none"."""
        self._choices[reader, author] = delivery

    def choice(self, reader, author):
        return self._choices.get((reader, author), "all")

    def mute(self, reader, author):
        """Whoever brings the author's posts, whether followed or not."""
        self._mutes.setdefault(reader, set()).add(author)

    def unmute(self, reader, author):
        self._mutes.get(reader, set()).discard(author)

    def apply(self, event):
        """Any event, in any order, as often as you like."""
        post = self._posts.setdefault(event.post, _Post(event.author))
        if event.kind == "published":
            if post.created_at_ms is None:  # the first one counts
                post.created_at_ms = event.created_at_ms
                post.repost_of = event.repost_of
        elif event.kind == "deleted":
            post.deleted = True  # for ever
        elif event.kind in ("hidden", "unhidden") and event.version > post.version:
            post.hidden, post.version = event.kind == "hidden", event.version

    def swept(self, posts):
        """Deleted by Fanline itself, which it does to reposts of deleted posts in time. To others it may not: they
        stay what they are here. The reposts among these that it may delete."""
        taken = [number for number in posts if self._may_sweep(self._posts.get(number))]
        for number in taken:
            self._posts[number].deleted = True
        return taken

    def _may_sweep(self, post):
        original = post and post.repost_of and self._posts.get(post.repost_of[0])
        return bool(original) and original.deleted and original.author == post.repost_of[1]

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

    def timelines(self, readers, shown=False):
        """Reader -> all that belongs into their timeline were it endless, newest first, as
        (created_at_ms, post id, author). `shown`: as pages show it, without the authors that the reader
        mutes."""
        outboxes = {}
        for author, post, created_at_ms in self.visible():
            outboxes.setdefault(author, []).append((created_at_ms, post, author))
        wanted = {reader: [] for reader in readers}
        for author, items in outboxes.items():
            readers = self.followers.get(author, set()) | ({author} if self._own_posts else set())
            for reader in readers & wanted.keys():
                choice = self.choice(reader, author)
                if choice == "none" or shown and author in self._mutes.get(reader, ()):
                    continue
                wanted[reader] += [item for item in items
                                   if choice == "all" or not self._posts[item[1]].repost_of]
        for items in wanted.values():
            items.sort(key=newest_first)
        return wanted


    def is_repost(self, post):
        return bool(self._posts[post].repost_of)

    def shown_by(self, post):
        """The post that a page shows for it: itself, or the original if it is a repost. None: the original cannot be
        seen."""
        if not (original := self._posts[post].repost_of):
            return post
        there = self._posts.get(original[0])
        return original[0] if there and there.visible and there.author == original[1] else None

    def pages(self, reader, reposts="merge"):
        """All that the reader's pages show, newest first: ids."""
        shown = []
        muted = self._mutes.get(reader, ())
        for _, post, _ in self.timelines([reader], shown=True)[reader]:
            original = self.shown_by(post)
            if original is None or self._posts[original].author in muted:
                continue
            if reposts == "none" and original != post:
                continue
            shown.append(post if reposts == "each" else original)
        return list(dict.fromkeys(shown))  # an item stands where its newest source does

    def outbox(self, author):
        """All that pages of the author's own posts show, newest first: ids."""
        own = [item for item in self.visible() if item.author == author and self.shown_by(item.post)]
        return [item.post for item in sorted(own, key=lambda item: (-item.created_at_ms, -item.post))]


def newest_first(item):
    """The one order of all timelines: newest first, of the same millisecond the higher id first."""
    created_at_ms, post, _ = item
    return -created_at_ms, -post
