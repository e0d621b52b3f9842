"""What helm/generate.py writes is what is there, and a values file cannot say what nobody reads."""

import json
import re
import subprocess
import unittest

import jsonschema
import yaml

from helm import generate
from helm.options import options_of
from tests.helm.chart import CHART, KUBERNETES, ci_values, objects, run, tool

# Objects whose keys are the user's: of Kubernetes, labels and the like.
OPEN = {"global", "commonLabels", "commonAnnotations", "extraProperties", "cronJobs", "podAnnotations", "podLabels",
        "nodeSelector", "affinity", "podSecurityContext", "annotations", "labels", "updateStrategy", "resources",
        "behavior", "valueFrom", "items"}


def open_objects(schema, name=""):
    """The names of all objects that take keys that nobody knows."""
    if isinstance(schema, list):
        return {found for each in schema for found in open_objects(each, name)}
    if not isinstance(schema, dict):
        return set()
    found = set()
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        found.add(name)
    for key, value in schema.items():
        if key == "properties":
            found |= {each for word, inner in value.items() for each in open_objects(inner, word)}
        elif key not in ("additionalProperties", "propertyNames"):
            found |= open_objects(value, "items" if key == "items" else name)
    return found


class Generated(unittest.TestCase):
    maxDiff = None

    def test_files_are_those_that_are_there(self):
        for path, text in generate.generated().items():
            there = (CHART / path).read_text(encoding="utf-8")
            self.assertEqual(text, there, f"{path} is not what it is made of; run: make chart")

    def test_files_have_no_option_that_would_put_a_secret_into_a_configmap(self):
        properties = json.loads(generate.schema_text())["properties"]
        for role in ("dispatcher", "pusher", "mirror", "reconciler", "api", "feedctl"):
            options = properties[role]["properties"]["config"]["properties"]
            self.assertTrue(options)
            self.assertFalse([name for name in options if "password" in name or "properties" in name])

    def test_every_option_can_be_said_somewhere(self):
        """In a role's config, or by what the chart renders of other values (the tls values use them all)."""

        found = objects(ci_values()["tls"])
        properties = json.loads(generate.schema_text())["properties"]
        plaintext = {"kafka-password", "redis-password", "redis-sentinel-password", "mysql-password",
                     "bodies-mysql-password"}
        for role in ("dispatcher", "pusher", "mirror", "reconciler", "api"):
            known = set(options_of(generate.programs() / f"fanline-{role}"))
            rendered = {line.split(" = ")[0] for line in
                        found["ConfigMap", f"blue-fanline-{role}"]["data"][f"{role}.conf"].splitlines()}
            in_config = set(properties[role]["properties"]["config"]["properties"])
            self.assertEqual(known - in_config - rendered - plaintext, set(), role)


    def test_defaults_that_times_are_computed_from_are_the_programs(self):
        assumed = dict(re.findall(r'dig "([a-z-]+)" "(\w+)"', (CHART / "templates/_duration.tpl").read_text(encoding="utf-8")))
        asked = {"drain-limit": [f"fanline-{role}" for role in ("dispatcher", "pusher", "mirror", "reconciler", "api")],
                 "migration-timeout": ["feedctl init"]}
        self.assertEqual(set(assumed), set(asked))
        for option, commands in asked.items():
            for command in commands:
                program, *words = command.split()
                told = options_of(generate.programs() / program, *words)[option].rest
                self.assertTrue(told.endswith(f"default {assumed[option]}"), f"{command}: {told}")


class Strict(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
        cls.values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))

    def test_objects_are_closed_unless_their_keys_are_the_users(self):
        self.assertLessEqual(open_objects(self.schema) - {""}, OPEN)
        self.assertIs(self.schema["additionalProperties"], False)

    def test_every_value_of_the_file_is_known_and_a_stranger_beside_it_is_not(self):
        validator = jsonschema.Draft7Validator(self.schema)
        self.assertEqual([each.message for each in validator.iter_errors(self.values)], [])
        closed = 0
        for path in self.maps(self.values):
            strange = json.loads(json.dumps(self.values))
            place = strange
            for key in path:
                place = place[key]
            place["nobodyKnowsThis"] = {}
            if not OPEN & set(path):
                closed += 1
                self.assertFalse(validator.is_valid(strange), path)
        self.assertGreater(closed, 50)

    def maps(self, values, path=()):
        if isinstance(values, dict):
            yield path
            for key, value in values.items():
                yield from self.maps(value, (*path, key))

    def test_helm_itself_refuses_a_stranger_by_name(self):
        for strange, told in {"pusher.replicas=3": "replicas", "pusher.config.holds-hints=3": "holds-hints",
                              "externalKafka.broker=x": "broker", "api.keda.enabled=true": "keda",
                              "pusher.config.timeline-ttl=soon": "timeline-ttl",
                              "pusher.config.truth-threads=64": "truth-threads",
                              "feedctl.config.ranges=few": "ranges"}.items():
            with self.subTest(strange):
                done = subprocess.run([tool("helm"), "template", "x", CHART, "--kube-version", KUBERNETES, "--values",
                                       ci_values()["minimal"], "--set", strange],
                                      capture_output=True, text=True, check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(told, done.stderr)

    def test_helm_takes_the_same_written_right(self):
        run(tool("helm"), "template", "x", CHART, "--kube-version", KUBERNETES, "--values", ci_values()["minimal"],
            "--set", "pusher.replicaCount=3,pusher.config.timeline-ttl=2h,feedctl.config.ranges=32")
