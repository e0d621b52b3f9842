"""What a test needs that reads timelines over HTTP, from an API process or two. Every answer of
`client` is held to api/openapi.yaml."""

import contextlib
import random

from stack.programs.api import Api
from tests.e2e.installation import Installation
from tests.e2e.openapi import Contract


class Reading(Installation):
    mirrors = 1
    api_processes = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.contract = Contract()
        args = cls.api_args()
        cls.apis = [Api(cls.stack, cls.ports, f"api-{number}", args)
                    for number in range(1, 1 + cls.api_processes)]
        for api in cls.apis:
            api.start()
        for api in cls.apis:
            api.wait_ready()

    @classmethod
    def api_args(cls):
        """What the API is told besides the services."""
        return ()

    def setUp(self):
        super().setUp()
        self.client = self.apis[0].client(self.contract.check)
        self.addCleanup(self.client.close)

    def get(self, path, client=None):
        answer = (client or self.client).get(f"/v1/users/{path}")
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json

    def ids(self, page):
        for item in page["items"]:
            author = self.ledger.author_of(int(item["id"]))
            self.assertIn(author, (None, int(item["author_id"])), item)
            self.assertIn(item["kind"], ("post", "repost"))
        return [int(item["id"]) for item in page["items"]]

    def walk(self, path, limit, client=None, **query):
        """Ids of all pages."""
        walked = []
        while True:
            pairs = "&".join(f"{name}={value}" for name, value in {"limit": limit, **query}.items())
            page = self.get(f"{path}?{pairs}", client)
            walked += self.ids(page)
            if "next_cursor" not in page:
                return walked
            query["cursor"] = page["next_cursor"]

    def walks(self, reader, still, over, limits):
        """Over and over until that, with posts that come and go and `still`, which stand still; how often."""
        draw, count, stood = random.Random(reader), 0, set(still)
        with contextlib.closing(draw.choice(self.apis).client()) as client:
            while not over.is_set() or count == 0:
                walked = self.walk(f"{reader}/timeline", draw.choice(limits), client)
                self.assertEqual(len(walked), len(set(walked)), "shown twice")
                self.assertEqual([post for post in walked if post in stood], still)
                count += 1
        return count

    def live(self, reader):
        self.wait_for(lambda: self.get(f"{reader}/timeline?limit=1")["state"] == "live",
                      "the timeline to be live")

    def assert_audited(self):
        """Also of authors merged at read, whose posts stand in no timeline."""
        audit = self.feedctl.json("audit", "--json", codes=(0, 1))
        self.assertTrue(audit["good"], audit)

    def drop(self, reader):
        """As if it had expired."""
        if keys := self.stack.redis.command("KEYS", f"tl:*:{reader}"):
            self.stack.redis.command("DEL", *keys)

    def expected(self, reader):
        """All that belongs into the reader's pages, newest first."""
        return self.ledger.pages(reader)
