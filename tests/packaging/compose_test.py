"""compose.yaml is what the compose specification allows and what the programs understand. The images of Kafka,
Redis and MariaDB that it names are not run here."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

import jsonschema
import yaml

from stack.programs import BIN

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "build/tools/files/compose-spec/compose-spec.json"
ROLES = yaml.safe_load((ROOT / "helm/fanline/files/roles.yaml").read_text(encoding="utf-8"))


class Compose(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
        cls.services = cls.file["services"]
        cls.programs = {name: each for name, each in cls.services.items() if each["image"].startswith("fanline/")}

    def test_is_what_the_specification_allows(self):
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        judge = jsonschema.validators.validator_for(schema)(schema)
        self.assertEqual([each.message for each in judge.iter_errors(self.file)], [])
        for wrong in ({"restart": 1}, {"stop_grace_period": []}, {"comand": "x"}):
            services = {**self.services, "api": {**self.services["api"], **wrong}}
            self.assertFalse(judge.is_valid({**self.file, "services": services}), wrong)

    def test_has_every_daemon_and_all_that_is_named_in_it(self):
        self.assertEqual(set(self.programs), {*ROLES, "init", "topics", "feedctl"})
        for name, each in self.services.items():
            with self.subTest(name):
                self.assertRegex(each["image"], r":[0-9][0-9.]*$")
                self.assertLessEqual(set(each.get("depends_on", {})), set(self.services))
                self.assertLessEqual(set(each.get("secrets", [])), set(self.file["secrets"]))
                self.assertLessEqual({volume.split(":")[0] for volume in each.get("volumes", [])}, set(self.file["volumes"]))

    def test_builds_the_images_that_it_runs_by_their_version(self):
        targets = re.findall(r"^FROM scratch AS (\S+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.M)
        version = re.search(r"project\(fanline VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        for name, each in self.programs.items():
            target = each["build"]["target"]
            self.assertIn(target, targets)
            self.assertEqual(each["image"], f"fanline/{target}:{version}", name)

    def test_holds_programs_as_tight_as_the_chart_does(self):
        for name, each in self.programs.items():
            with self.subTest(name):
                self.assertEqual((each["user"], each["read_only"], each["cap_drop"], each["security_opt"]),
                                 ("65532:65532", True, ["ALL"], ["no-new-privileges:true"]))
        for role in ROLES:
            self.assertEqual(self.services[role]["stop_grace_period"], f"{self.default_of(role, 'drain-limit') + 10}s")

    def test_gives_no_read_only_container_a_secret_that_compose_would_have_to_write_into_it(self):
        for name, each in self.services.items():
            if each.get("read_only"):
                for secret in each.get("secrets", []):
                    self.assertIn("file", self.file["secrets"][secret], name)

    def default_of(self, role, option):
        said = subprocess.run([BIN / f"fanline-{role}", "--help"], capture_output=True, text=True, check=True).stdout
        return int(re.search(rf"--{option} .*?default (\d+)s", said, re.S)[1])

    def run_as(self, each, *words):
        """Its program with its environment, and these words."""
        bare = {name: value for name, value in os.environ.items() if not name.startswith("FANLINE_")}
        told = {key: re.sub(r"^\$\{FANLINE_MYSQL_PASSWORD:\?.*\}$", "secret", value)
                for key, value in each["environment"].items()}
        self.assertEqual(told["FANLINE_MYSQL_PASSWORD"], "secret")
        done = subprocess.run([BIN / each["build"]["target"], *words], env={**bare, **told}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_what_its_head_says_to_type_is_a_command(self):
        head = (ROOT / "compose.yaml").read_text(encoding="utf-8").partition("\nname:")[0]
        typed = re.findall(r"docker compose run --rm feedctl (.+)", head)
        self.assertEqual(typed, ["audit"])
        for words in typed:
            self.run_as(self.services["feedctl"], *words.split(), "--check-config")
        self.run_as(self.services["feedctl"], *self.services["feedctl"]["command"])
        self.assertIn(f"http://{self.services['api']['ports'][0].rpartition(':')[0]}/", head)

    def test_every_address_that_programs_are_told_is_one_of_its_services(self):
        ports = {"kafka": {"9092"}, "redis": {"6379"}, "mariadb-0": {"3306"}, "mariadb-1": {"3306"}}
        listened = self.services["kafka"]["environment"]
        self.assertEqual(re.search(r"PLAINTEXT://:(\d+)", listened["KAFKA_LISTENERS"])[1], "9092")
        self.assertEqual(listened["KAFKA_ADVERTISED_LISTENERS"], "PLAINTEXT://kafka:9092")
        for name, each in self.programs.items():
            told = [found for key, value in each["environment"].items() if not key.endswith("LISTEN")
                    for found in re.findall(r"([\w-]+):(\d+)", value)]
            self.assertEqual({host for host, _ in told}, set(ports), name)
            for host, port in told:
                self.assertIn(port, ports[host], name)

    def test_tells_programs_what_they_understand(self):
        shared = set(self.file["x-services"])
        for name, each in self.programs.items():
            if name == "feedctl":
                continue
            with self.subTest(name):
                done = self.run_as(each, *each.get("command", []), "--check-config")
                unknown = set(re.findall(r"warning: .*?(FANLINE_\w+)", done.stdout + done.stderr))
                self.assertLessEqual(unknown, shared - {"FANLINE_MYSQL_SHARDS"}, "nobody reads these")
                if name in ROLES:
                    self.assertIn(f"0.0.0.0:{ROLES[name]['adminPort']}", done.stdout)
                    self.assertIn(str(ROLES[name]["adminPort"]), each["expose"])
                if "ports" in each:
                    self.assertIn(f"0.0.0.0:{each['ports'][0].rpartition(':')[2]}", done.stdout)

    def test_publishes_the_api_on_loopback_and_nothing_else(self):
        published = {name: each["ports"] for name, each in self.services.items() if "ports" in each}
        self.assertEqual(published, {"api": ["127.0.0.1:8080:8080"]})
