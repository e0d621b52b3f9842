"""Clients that two generators make of api/openapi.yaml, one in Python and one in Java, tell the same story over HTTP: an
application follows, publishes, walks to the very first post, counts what is new, reposts, undoes that, deletes,
unfollows and is refused."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.e2e.reading import Reading

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "build" / "clients"
PYTHON = CLIENTS / "python" / "bin" / "python"
GENERATOR = "openapi-generator-cli"
CONTRACT = ROOT / "api" / "openapi.yaml"
LIMIT_S = 120


def run(*command, cwd=None, env=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class GeneratedClients(Reading):
    @classmethod
    def setUpClass(cls):
        if not (CLIENTS / "stamp").exists():
            raise AssertionError("what generates clients is not installed: run stack/clients/setup")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        super().setUpClass()

    @classmethod
    def made_graph(cls):
        return {999_999: {999_998}}

    def assert_told(self, told, ann, eve):
        """As an application would be shown it, whatever the language."""
        posts = list(range(24, -1, -1))
        later = [27, 26, 25, *posts]
        whole = [number for number in later if number != 3]
        self.assertEqual(told, {
            "followed": [True, True], "created_at_ms": 1_700_000_000_024, "home": posts,
            "item": [1_700_000_000_024, eve, "post"], "new": 3,
            "outbox": [number for number in later if number % 2],
            "reposted": [0, True, [ann], "repost", 0, 1, [ann], [101]], "deleted": "post.deleted",
            "without_the_deleted": whole, "unfollowed": False,
            "without_eve": [number for number in whole if number % 2],
            "refused": [400, "bad_id"], "oneself": [400, "same_user"]})

    def story(self, *command, users, env=None):
        address = f"http://127.0.0.1:{self.apis[0].serving}"
        return json.loads(run(*command, address, *users, cwd=self.folder, env=env))

    def test_in_python(self):
        run(PYTHON, "-m", "openapi_python_client", "generate", "--path", CONTRACT, "--meta", "none", "--output-path",
            self.folder / "fanline_client", "--config", ROOT / "stack" / "clients" / "openapi-python-client.yaml")
        env = {**os.environ, "PYTHONPATH": str(self.folder)}
        self.assert_told(self.story(PYTHON, ROOT / "tests" / "clients" / "story.py", env=env,
                                    users=["1", "101", "102", "1000"]), "101", "102")

    def test_in_java(self):
        jars = sorted((CLIENTS / "jars").glob("*.jar"))
        generator, = (jar for jar in jars if jar.name.startswith(GENERATOR))
        run("java", "-jar", generator, "generate", "-i", CONTRACT, "-g", "java", "--library", "native", "-o",
            self.folder / "java", "--additional-properties", "invokerPackage=fanline.client,"
            "apiPackage=fanline.client.api,modelPackage=fanline.client.model,openApiNullable=false",
            "--global-property", "apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,"
            "modelDocs=false")
        sources = sorted((self.folder / "java" / "src" / "main" / "java").rglob("*.java"))
        path = ":".join(str(jar) for jar in jars if jar != generator)
        run("javac", "-nowarn", "-d", self.folder / "classes", "-cp", path, *sources,
            ROOT / "tests" / "clients" / "Story.java")
        self.assert_told(self.story("java", "-cp", f"{self.folder / 'classes'}:{path}", "Story",
                                    users=["18446744073709551614", "201", "202", "9007199254740993"]), "201", "202")
