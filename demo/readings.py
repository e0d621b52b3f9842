"""The chapter of readers: one comes back, and sees a delete, a mute, an unfollow, their whole history
page by page and a celebrity who is merged at read, over HTTP; then many read at once. Each page is compared
with what the demo's own ledger says it must be."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

from demo.report import milliseconds
from demo.stage import LIMIT
from demo.workload import Event
from stack.programs.api import Api
from stack.waiting import wait_until

PAGE, LARGEST = 50, 200  # posts
READERS = 200  # of the live ones: the one with the longest history comes back
CLIENTS, SECONDS = 4, 4  # of the many


class ReadingChapter:
    def __init__(self, stage, ports, progress, live):
        self._stage, self._progress, self._live = stage, progress, live
        self._api = Api(stage.stack, ports, "api-for-readers")
        self._wrong = []
        self._took = []  # seconds of each page that many read

    def tell(self):
        """Its figures, and what is wrong."""
        self._api.start().wait_ready(LIMIT)
        self._client = self._api.client()
        try:
            self._choose()
            self._come_back()
            self._see_a_delete()
            self._see_a_mute()
            self._see_an_unfollow()
            self._walk()
            self._see_a_celebrity()
            self._read_much()
        finally:
            self._client.close()
        samples = self._api.scrape()
        self._api.stop()
        return {
            "pages_per_s": round(len(self._took) / SECONDS),
            "page_p99_ms": milliseconds(sorted(self._took)[len(self._took) * 99 // 100]),
            "pulled_pages": int(samples.total("fanline_api_home_pages_total", state="pulled")
                                + samples.total("fanline_api_home_pages_total", state="building")),
            "rebuilds": int(samples.total("fanline_api_rebuilds_total", result="rebuilt")),
        }, self._wrong

    # ---- one reader ----------------------------------------------------------------------------

    def _choose(self):
        # Some have unfollowed the author whom everybody followed, of whom a chapter is.
        followers = self._stage.ledger.followers[self._stage.everybodys]
        some = self._stage.workload.sample(sorted(followers & set(self._live)), READERS)
        self._posts = self._stage.ledger.timelines(some)
        self._reader = max(some, key=lambda reader: len(self._posts[reader]))

    def _come_back(self):
        with self._progress.step("a reader comes back") as step:
            self._expire()
            begin = time.monotonic()
            page = self._page()
            answered = time.monotonic() - begin
            wait_until(lambda: self._page()["state"] == "live", LIMIT, "the timeline to be live")
            live = time.monotonic() - begin
            self._expect(page, "the page of a reader whose timeline had expired")
            step.note(f"to an expired timeline: {len(page['items'])} posts after "
                      f"{answered * 1e3:.0f} ms, gathered from the shards; after "
                      f"{live * 1e3:.0f} ms the timeline is live again and holds the same")

    def _see_a_delete(self):
        with self._progress.step("an author deletes a post") as step:
            gone = self._ids(self._page())[0]
            author = self._author_of(gone)
            self._stage.send([Event("deleted", gone, author)])
            self._wait(lambda ids: gone not in ids, "the deleted post to leave the page")
            self._expect(self._page(), "the page after a delete")
            step.note(f"before: {gone} is the reader's newest post; after: it is gone, and the "
                      f"page is full again ({len(self._page()['items'])} posts)")

    def _see_a_mute(self):
        with self._progress.step("the reader mutes a followed author, and no more") as step:
            author, _ = self._somebody()
            for choice, what in (("none", "the posts to leave the page"), ("all", "the posts to come back")):
                answer = self._client.ask("PATCH", f"/v1/users/{self._reader}/following/{author}",
                                          {"delivery": choice})
                assert answer.status == 200, answer.text
                self._stage.ledger.choose(self._reader, author, choice)
                self._wait_as_expected(what)
            step.note(f"the posts of {author} left the page, and are back")

    def _see_an_unfollow(self):
        with self._progress.step("the reader unfollows") as step:
            author, posts = self._somebody()
            before = len(posts & set(self._ids(self._page())))
            answer = self._client.delete(f"/v1/users/{self._reader}/following/{author}")
            assert answer.status < 300, answer.text
            self._stage.ledger.unfollow(self._reader, author)
            self._wait_as_expected("the posts to leave the page")
            after = len(posts & set(self._ids(self._page())))
            step.note(f"before: {before} posts of {author} on the page; after: {after}, by others' reposts")

    def _walk(self):
        with self._progress.step("read to the very first post") as step:
            expected = self._expected()
            walked, pages, cursor = [], 0, ""
            while cursor is not None:
                page = self._page(LARGEST, cursor)
                walked += self._ids(page)
                pages, cursor = pages + 1, page.get("next_cursor")
                step.at(len(walked) / max(1, len(expected)))
            if walked != expected:
                self._wrong.append(f"a walk over reader {self._reader}'s pages shows "
                                   f"{len(walked):,} posts, not the {len(expected):,} there are")
            step.note(f"{len(walked):,} posts on {pages} pages, far below what Redis holds; none "
                      "twice, none missing")

    def _see_a_celebrity(self):
        """Everybody follows this author. Merged at read, the first post tells live timelines so,
        once, and no post is written to any. They are deleted again: the audit of timelines in Redis
        has nothing to look for."""
        stage, celebrity = self._stage, self._stage.everybodys
        with self._progress.step("a celebrity is merged at read") as step:
            stage.feedctl.run("author", "mode", celebrity, "pull")
            first = self._publish(celebrity)
            wait_until(lambda: stage.feedctl.json("author", "mode", celebrity, "--json")["announced"],
                       LIMIT, "live timelines to be told")
            stage.fleet.wait_idle(LIMIT)
            before = self._deliveries()
            second = self._publish(celebrity)
            stage.fleet.wait_idle(LIMIT)
            pushed = self._deliveries() - before
            if pushed:
                self._wrong.append(f"a post merged at read was pushed to {pushed:,} timelines")
            stage.feedctl.run("author", "mode", celebrity, "push")
            stage.send([Event("deleted", post, celebrity) for post in (first, second)])
            self._wait(lambda ids: not {first, second} & set(ids), "the posts to be gone")
            stage.fleet.wait_idle(LIMIT)
            followers = len(stage.ledger.followers[celebrity])
            step.note(f"before: a post is written to all live timelines of {followers:,} "
                      f"followers; after: to {pushed:,}, and it is on top of the page all the same")

    def _publish(self, author):
        """The newest of all posts; on the reader's page when this returns."""
        newest = max(item.created_at_ms for item in self._stage.ledger.visible())
        event = self._stage.workload.publish(author, newest + 1)
        self._stage.send([event])
        self._wait(lambda ids: ids[0] == event.post, "the post to be on top")
        self._expect(self._page(), "the page with a post merged at read")
        return event.post

    # ---- many readers --------------------------------------------------------------------------

    def _read_much(self):
        with self._progress.step("many read at once") as step:
            deadline = time.monotonic() + SECONDS
            with ThreadPoolExecutor(CLIENTS) as pool:
                for took in pool.map(lambda seed: self._read(seed, deadline), range(CLIENTS)):
                    self._took += took
            step.note(f"{len(self._took):,} pages of {PAGE} posts in {SECONDS} s, by {CLIENTS} "
                      "clients that wait for each")

    def _read(self, seed, deadline):
        draw, client, took = random.Random(seed), self._api.client(), []
        try:
            while (begin := time.monotonic()) < deadline:
                self._page(reader=draw.choice(self._live), client=client)
                took.append(time.monotonic() - begin)
        finally:
            client.close()
        return took

    # ---- what they need ------------------------------------------------------------------------

    def _page(self, limit=PAGE, cursor="", reader=None, client=None):
        answer = (client or self._client).get(
            f"/v1/users/{reader or self._reader}/timeline?limit={limit}"
            + (f"&cursor={cursor}" if cursor else ""))
        if answer.status != 200:
            raise ConnectionError(f"the API answers {answer.status}: {answer.text}")
        return answer.json

    @staticmethod
    def _ids(page):
        return [int(item["id"]) for item in page["items"]]

    def _expected(self):
        return self._stage.ledger.pages(self._reader)

    def _expect(self, page, what):
        if self._ids(page) != self._expected()[:PAGE]:
            self._wrong.append(f"{what} is not what the demo's ledger says (reader {self._reader})")

    def _somebody(self):
        """A followed author on the page, not the one whom everybody follows; and all their posts."""
        followers = self._stage.ledger.followers
        author = next(author for post in self._ids(self._page())
                      if (author := self._author_of(post)) != self._stage.everybodys
                      and self._reader in followers.get(author, ()))
        return author, {item.post for item in self._stage.ledger.visible() if item.author == author}

    def _author_of(self, post):
        return next(item.author for item in self._stage.ledger.visible() if item.post == post)

    def _wait(self, predicate, what):
        wait_until(lambda: predicate(self._ids(self._page())), LIMIT, what)

    def _wait_as_expected(self, what):
        expected = self._expected()[:PAGE]
        self._wait(lambda ids: ids == expected, what)

    def _deliveries(self):
        return int(self._stage.fleet.counters().total("fanline_deliveries_total", result="added"))

    def _expire(self):
        redis = self._stage.stack.redis
        key, = (key for key in redis.command("KEYS", f"tl:*:{self._reader}"))
        redis.command("DEL", key)
