"""docs/api.md cannot drift: its commands are run and answer what it shows (but for times and
versions), and its tables say what api/openapi.yaml and the sources say."""

import json
import re
import subprocess
import unittest

import yaml

from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs.api import Api
from stack.programs.feedctl import Feedctl
from tests.e2e.decoding import ROOT
from tests.e2e.openapi import DOCUMENT, METHODS

PAGE = (ROOT / "docs" / "api.md").read_text()
IN_ONE_LINE = " ".join(PAGE.split())
SHOWN_AT = "127.0.0.1:8080"


def examples():
    """Command -> the answer shown, in their order."""
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE, re.S | re.M)
    return [pair for block in blocks for pair in re.findall(r"^\$ (.+)\n(.+)$", block, re.M)]


def without_times(answer):
    return {name: re.sub(r"\b1\d{15}\b|\b1\d{12}\b", "T", json.dumps(value))
            for name, value in answer.items()}


class ApiPage(unittest.TestCase):
    def test_its_commands_answer_what_it_shows(self):
        ports = Ports()
        stack = LocalStack(ports=ports, say=lambda line: None)
        self.addCleanup(stack.stop)
        stack.start()
        feedctl = Feedctl(stack)
        feedctl.run("init")
        feedctl.run("topics", "create")
        api = Api(stack, ports)
        api.start().wait_ready()
        shown = examples()
        self.assertGreaterEqual(len(shown), 7)
        for command, answer in shown:
            typed = command.replace(SHOWN_AT, f"127.0.0.1:{api.serving}")
            self.assertNotEqual(typed, command)
            said = subprocess.run(["/bin/bash", "-c", typed], capture_output=True, text=True,
                                  timeout=60, check=True).stdout
            self.assertEqual(without_times(json.loads(said)), without_times(json.loads(answer)),
                             command)
            self.assertEqual(list(json.loads(said)), list(json.loads(answer)))

    def test_its_operations_are_those_of_the_contract_and_of_the_program(self):
        told = set(re.findall(r"^\| `(\w+)` \| `(\w+) (/\S+)` \|", PAGE, re.M))
        document = yaml.safe_load(DOCUMENT.read_text())
        declared = {(item[method]["operationId"], method.upper(), path)
                    for path, item in document["paths"].items()
                    for method in METHODS if method in item}
        source = (ROOT / "api" / "operations" / "routes.cpp").read_text()
        served = {(name, method, path) for method, path, name in re.findall(
            r'\{"(\w+)",\s*"([^"]+)",\s*"(\w+)",\s*\w+\}', source)}
        self.assertEqual(told, declared)
        self.assertEqual(served, declared)

    def test_its_codes_are_those_of_the_contract_and_of_the_program(self):
        told = {(code, int(status)) for code, status in
                re.findall(r"^\| `(\w+)` \| (\d+) \|", PAGE, re.M)}
        source = (ROOT / "api" / "operations" / "problem.cpp").read_text()
        sent = {(code, int(status)) for status, code in
                re.findall(r'\{Code::k\w+, (\d+), "(\w+)"', source)}
        declared = set()
        for response in yaml.safe_load(DOCUMENT.read_text())["components"]["responses"].values():
            schema = response["content"].get("application/problem+json", {}).get("schema")
            for part in (schema or {}).get("allOf", []):
                facts = part.get("properties", {})
                declared |= {(code, status) for code in facts.get("code", {}).get("enum", [])
                             for status in facts["status"]["enum"]}
        self.assertEqual(told, sent)
        self.assertEqual(declared, sent)

    def test_its_figures_are_those_of_the_sources(self):
        limits = "".join((ROOT / "api" / name).read_text()
                         for name in ("limits.h", "operations/bounds.h"))
        contract = DOCUMENT.read_text()
        for code, words, also in [
            ("kMostBodyBytes = 64 * 1024;", "at most 64 KiB", "at most 65536 bytes"),
            ("kMostItems = 500;", "at most 500 per request", "maxItems: 500"),
            ("kMostPerPage = 200;", "`limit`", "maximum: 200"),
            ("kDefaultPerPage = 50;", "`limit`", "default: 50"),
            ("kMostRequestLineBytes = 8 * 1024;", "at most 8 KiB", "at most 8192 bytes"),
            ("kMostHeadBytes = 16 * 1024;", "at most 16 KiB", "at most 16384 bytes"),
            ("connections = 16'384;", "`--connections` clients at once (16,384;", ""),
            ("idle_time = std::chrono::seconds(75);", "`--idle-time` (75s)", ""),
            ("kMostKeptBytes = 128 << 20;", "While 128 MiB are kept", ""),
            ("queue = 1'024;", "`--queue` (1,024)", ""),
            ("threads = 16;", "(16; each holds", ""),
            ("milliseconds(500);", "`--longest-wait` (500ms)", ""),
        ]:
            self.assertIn(code, limits)
            self.assertIn(words, IN_ONE_LINE)
            self.assertIn(also, contract)
        edges = (ROOT / "fanline" / "ports" / "forward_edges.h").read_text()
        self.assertIn("kMostFollowed = 5'000;", edges)
        self.assertIn("`feedctl init --following-limit`, 5,000", IN_ONE_LINE)
        mirror = (ROOT / "api" / "inline_mirror.h").read_text()
        self.assertIn("kBudget = std::chrono::milliseconds(50);", mirror)
        self.assertIn("50 ms", IN_ONE_LINE)
        lists = (ROOT / "backends" / "mysql" / "edges" / "relation_store.h").read_text()
        self.assertIn("kMostFollowersShown = 10'000;", lists)
