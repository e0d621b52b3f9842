"""Rows that get lost after all of their messages were answered, so that pairs no longer tell: a shard fails over to a
replica that was behind, and somebody edits rows."""

from demo.clients import HttpClient
from demo.stage import LIMIT
from stack.waiting import wait_until


class LostRows:
    def __init__(self, stage, api, relations):
        self._shards, self._api, self.relations = stage.stack.mysql, api, relations

    def change(self, changes):
        client = HttpClient(self._api, changes, seconds=0)
        client.start()
        client.finish()

    def befriend(self, pairs):
        client = self._api.client()
        try:
            for low, high in pairs:
                for path in (f"/v1/users/{low}/friendships/{high}/request",
                             f"/v1/users/{high}/friendships/{low}/accept"):
                    wait_until(lambda path=path: client.post(path).status == 200, LIMIT, path)
        finally:
            client.close()

    def hold(self, edge, shard):
        """Which of the edge's rows are on that shard: "", "forward", "reverse", or "both"."""
        forward, reverse = (self.relations.shard_of(user) == shard for user in edge)
        return "both" if forward and reverse else "forward" if forward else "reverse" if reverse else ""

    def edit(self, edges, both=True):
        """Deletes and edits rows of edges that are there, by hand, on either side. `both`: also those of both
        sides, of which then only logs tell."""
        rows = self.relations
        edits = [lambda edge: rows.lose_reverse(*edge),
                 lambda edge: rows.edit_reverse(*edge, "ver = ver - 7, pos = pos - 1"),
                 lambda edge: rows.edit_reverse(*edge, "delivery = 2"),
                 lambda edge: rows.lose_forward(*edge),
                 lambda edge: rows.edit_forward(*edge, "ver = ver - 7, pos = pos - 1"),
                 lambda edge: rows.lose_forward(*edge) and rows.lose_reverse(*edge)][:6 if both else 5]
        for number, edge in enumerate(edges):
            if not edits[number % len(edits)](edge):
                raise ConnectionError(f"no rows of {edge[0]} -> {edge[1]} to edit")
