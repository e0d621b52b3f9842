"""What the clients of the relations chapter send, and that a client's failure is not silent."""

import json
import unittest

from demo.changes import Change
from demo.clients import HttpClient, Publisher, encode
from demo.producer import NotAcknowledged
from demo.workload import Event, Sending
from stack.programs.api import Answer


class Api:
    """Answers one after the other with these statuses, and keeps what was asked."""

    def __init__(self, *statuses):
        self._statuses, self.asked = list(statuses), []

    def client(self):
        return self

    def ask(self, method, path):
        self.asked.append((method, path))
        return Answer(method, path, self._statuses.pop(0), {}, "said so")

    def close(self):
        pass


CHANGES = [Change(7, 9, True), Change(7, 9, False)]


class ByHttp(unittest.TestCase):
    def run_client(self, api):
        client = HttpClient(api, CHANGES, seconds=0)
        client.start()
        client.finish()
        return client

    def test_a_follow_is_put_an_unfollow_deleted_in_order(self):
        api = Api(200, 200)
        self.assertEqual(self.run_client(api).done, 2)
        self.assertEqual(api.asked, [("PUT", "/v1/users/7/following/9"),
                                     ("DELETE", "/v1/users/7/following/9")])

    def test_what_is_refused_for_now_is_asked_again_before_the_next(self):
        api = Api(503, 200, 200)
        client = self.run_client(api)
        self.assertEqual((client.done, client.refused), (2, 1))
        self.assertEqual([method for method, _ in api.asked], ["PUT", "PUT", "DELETE"])

    def test_what_is_refused_for_good_is_an_error(self):
        with self.assertRaisesRegex(NotAcknowledged, "409 said so"):
            self.run_client(Api(200, 409))


class Posts(unittest.TestCase):
    def test_are_sent_one_by_one(self):
        sendings = [Sending(Event("published", number, 5, 1000), False) for number in (1, 2)]
        sent = []
        publisher = Publisher(sent.append, sendings, seconds=0)
        publisher.start()
        publisher.finish()
        self.assertEqual(sent, [[sendings[0].event], [sendings[1].event]])


class Encoding(unittest.TestCase):
    def test_is_what_applications_are_told_to_send(self):
        self.assertEqual(json.loads(encode(Change(7, 9, True), 41)), {
            "schema_version": 1, "type": "relation.follow", "src": "7", "dst": "9",
            "version": "41"})
        self.assertEqual(json.loads(encode(Change(7, 9, False), 42))["type"], "relation.unfollow")
        self.assertEqual(json.loads(encode(Change(7, 9, True, "none"), 43))["delivery"], "none")
