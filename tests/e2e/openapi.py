"""Answers held to api/openapi.yaml: path and method are declared, so is the status, its content type
and headers, and the body is what its schema says."""

import re

import jsonschema
import yaml

from tests.e2e.decoding import ROOT

DOCUMENT = ROOT / "api" / "openapi.yaml"
METHODS = ("get", "put", "post", "delete", "patch")
# What any path may answer, whatever its operation: the request fails before an operation reads it.
ANYWHERE = {"404": "NotFound", "405": "MethodNotAllowed", "413": "BodyTooLarge",
            "414": "UriTooLong", "400": "BadRequest", "408": "RequestTimeout",
            "415": "UnsupportedMediaType", "417": "ExpectationFailed", "431": "HeadersTooLarge",
            "501": "NotImplemented", "503": "Unavailable", "505": "VersionNotSupported"}


def closed(schema):
    """The same schema, with every object closed that says what it requires. Clients ignore members they do not know; an
    answer here has no member that is not documented."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    same = {key: closed(value) for key, value in schema.items()}
    if "properties" in schema and isinstance(schema.get("required"), list):
        same.setdefault("additionalProperties", False)
    return same


class Contract:
    """Thread-safe."""

    def __init__(self):
        self._document = closed(yaml.safe_load(DOCUMENT.read_text()))
        self._operations = {}  # (method, pattern) -> operation
        for path, item in self._document["paths"].items():
            pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))
            for method in METHODS:
                if method in item:
                    self._operations[method, pattern] = item[method]
        self.seen = set()  # (operationId, status)

    def documented(self):
        """Every (operationId, status) there is."""
        return {(operation["operationId"], status) for operation in self._operations.values()
                for status in operation["responses"]}

    def check(self, answer):
        """AssertionError that says where the answer differs from the document."""
        response, operation = self._response_to(answer)
        label = f"{answer.method} {answer.path}: {answer.status}"
        content = response["content"]
        kind = answer.headers.get("content-type")
        assert kind in content, f"{label} is {kind}, documented is {list(content)}"
        for name, header in response.get("headers", {}).items():
            value = answer.headers.get(name.lower())
            assert value is not None or not header.get("required"), f"{label} has no {name}"
            if header["schema"]["type"] == "integer":
                value = int(value)
            self._validate(value, header["schema"], f"{label}, {name}")
        if answer.method != "HEAD":
            self._validate(answer.json, content[kind]["schema"], f"{label} {answer.text[:300]}")
        if operation:
            self.seen.add((operation["operationId"], str(answer.status)))

    def check_request(self, schema, value):
        """ValidationError when it is not what the named schema says."""
        self._validator(self._document["components"]["schemas"][schema]).validate(value)

    def _validator(self, schema):
        # A resolver remembers where it is, so each use has its own.
        return jsonschema.Draft4Validator(
            schema, resolver=jsonschema.RefResolver("", self._document))

    def _validate(self, value, schema, label):
        try:
            self._validator(schema).validate(value)
        except jsonschema.ValidationError as error:
            raise AssertionError(f"{label}: {error.message}") from error

    def _response_to(self, answer):
        path, status = answer.path.partition("?")[0], str(answer.status)
        method = "get" if answer.method == "HEAD" else answer.method.lower()
        operation = next((operation for (known, pattern), operation in self._operations.items()
                          if known == method and pattern.fullmatch(path)), None)
        if operation and status in operation["responses"]:
            return self._follow(operation["responses"][status]), operation
        assert status in ANYWHERE, f"{answer.method} {answer.path} answers {status}: {answer.text}"
        return self._document["components"]["responses"][ANYWHERE[status]], None

    def _follow(self, node):
        if "$ref" not in node:
            return node
        return self._document["components"]["responses"][node["$ref"].rpartition("/")[2]]
