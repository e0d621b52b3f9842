"""fanline-api, and a client of it that keeps its connection."""

import http.client
import json
from typing import NamedTuple

from stack.programs.daemon import Daemon


class Answer(NamedTuple):
    method: str
    path: str  # with the query
    status: int
    headers: dict  # by lower-case name
    text: str

    @property
    def json(self):
        return json.loads(self.text)


class Api(Daemon):
    """One process; `serving` is where it serves requests."""

    def __init__(self, stack, ports, name="api", args=()):
        self.serving = ports.take()
        super().__init__(stack, ports, "fanline-api", name,
                         ["--listen", f"127.0.0.1:{self.serving}", *args])

    def client(self, seen=None):
        return ApiClient(self.serving, seen)


class ApiClient:
    """One connection, opened anew when it was closed; for one thread. `seen`, when given, is called
    with every answer."""

    def __init__(self, port, seen=None, timeout=60):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self._seen = seen or (lambda answer: None)

    def ask(self, method, path, body=None, headers=None):
        """`body`: bytes, str, or what becomes JSON."""
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if method in ("POST", "PATCH"):
            headers.setdefault("Content-Type", "application/json")
        for last_try in (False, True):
            try:
                self._connection.request(method, path, body, headers)
                response = self._connection.getresponse()
                text = response.read().decode()
                break
            except OSError as error:
                self._connection.close()
                # An idle connection was closed: every request is idempotent.
                if last_try or not isinstance(error, (ConnectionResetError, BrokenPipeError)):
                    raise
        answer = Answer(method, path, response.status,
                        {name.lower(): value for name, value in response.getheaders()}, text)
        self._seen(answer)
        return answer

    def get(self, path):
        return self.ask("GET", path)

    def put(self, path):
        return self.ask("PUT", path)

    def delete(self, path):
        return self.ask("DELETE", path)

    def post(self, path, body=None):
        return self.ask("POST", path, body)

    def patch(self, path, body):
        return self.ask("PATCH", path, body)

    def close(self):
        self._connection.close()
