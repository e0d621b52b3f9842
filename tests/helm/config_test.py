"""What the chart tells the programs is what they understand: the real ones judge every rendered
configuration by --check-config, with every file that it names in its place."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from helm.generate import programs
from tests.helm.chart import ci_values, objects

FOLDER = "/etc/fanline/"
PEM = "-----BEGIN {0}-----\nAAAA\n-----END {0}-----\n".format
IN_SECRETS = {"password": "secret\n", "kafka.properties": "ssl.key.password=x\n", "ca.crt": PEM("CERTIFICATE"),
              "tls.crt": PEM("CERTIFICATE"), "tls.key": PEM("PRIVATE KEY")}


class Configuration(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def mount(self, found, pod):
        """The pod's files below self.folder: what a ConfigMap holds, and something where a Secret is."""
        mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
        for volume in pod["volumes"]:
            at = mounts[volume["name"]]
            if not at.startswith(FOLDER):
                continue
            place = self.folder / at.removeprefix(FOLDER)
            place.mkdir(parents=True, exist_ok=True)
            if "configMap" in volume:
                for name, text in found["ConfigMap", volume["configMap"]["name"]]["data"].items():
                    (place / name).write_text(text.replace(FOLDER, f"{self.folder}/"), encoding="utf-8")
            for item in volume.get("secret", {}).get("items", []):
                (place / item["path"]).write_text(IN_SECRETS[item["path"]], encoding="utf-8")

    @staticmethod
    def environment(found, container):
        told = {each["name"]: each["value"] for each in container.get("env", [])}
        for source in container.get("envFrom", []):
            told |= found["ConfigMap", source["configMapRef"]["name"]]["data"]
        return told

    def check(self, command, environment):
        here = {name: value.replace(FOLDER, f"{self.folder}/") for name, value in environment.items()}
        bare = {name: value for name, value in os.environ.items() if not name.startswith("FANLINE_")}
        program = programs() / Path(command[0]).name
        return subprocess.run([program, *command[1:], "--check-config"], env={**bare, **here},
                              capture_output=True, text=True, check=False)

    def assert_taken(self, command, environment):
        judged = self.check(command, environment)
        self.assertEqual(judged.returncode, 0, f"{judged.stdout}{judged.stderr}{environment}")
        self.assertNotIn("secret\n", judged.stdout)
        return judged.stdout

    def test_of_every_daemon_is_taken(self):
        seen = set()
        for name, values in ci_values().items():
            found = objects(values)
            for (kind, workload), each in found.items():
                if kind == "Deployment":
                    pod = each["spec"]["template"]["spec"]
                    container, = pod["containers"]
                    with self.subTest(f"{name}: {workload}"):
                        self.mount(found, pod)
                        environment = self.environment(found, container)
                        shown = self.assert_taken(container["command"], environment)
                        self.assertIn(f"0.0.0.0:{container['ports'][0]['containerPort']}", shown)
                        seen.add(container["name"])
        self.assertEqual(seen, {"dispatcher", "pusher", "mirror", "reconciler", "api", "audit"})

    def test_of_the_setup_and_of_what_operators_type_is_taken(self):
        seen = set()
        for name, values in ci_values().items():
            found = objects(values)
            for (kind, workload), each in found.items():
                if kind in ("Job", "CronJob"):
                    spec = each["spec"] if kind == "Job" else each["spec"]["jobTemplate"]["spec"]
                    pod = spec["template"]["spec"]
                    self.mount(found, pod)
                    for container in pod.get("initContainers", []) + pod["containers"]:
                        with self.subTest(f"{name}: {workload} {container['name']}"):
                            self.assert_taken(container["command"], self.environment(found, container))
                            seen.add(" ".join(container["command"][1:]))
        self.assertEqual(seen, {"init", "topics create", "ranges", "audit", "doctor"})

    def test_shows_what_was_asked_for(self):
        found = objects(ci_values()["ha"])
        pod = found["Deployment", "blue-fanline-pusher"]["spec"]["template"]["spec"]
        self.mount(found, pod)
        shown = self.assert_taken(["fanline-pusher"], {"FANLINE_CONFIG": f"{FOLDER}pusher/pusher.conf"})
        for line in ("held-hints = 1000000", "drain-limit = 1m", "log-level = warn", "timeline-ttl = 72h"):
            self.assertIn(line, " ".join(shown.replace('"', "").split()))

    def test_would_be_refused_with_an_option_of_nobody(self):
        found = objects(ci_values()["minimal"])
        self.mount(found, found["Deployment", "blue-fanline-pusher"]["spec"]["template"]["spec"])
        file = self.folder / "pusher" / "pusher.conf"
        file.write_text(file.read_text(encoding="utf-8") + "holds-hints = 1\n", encoding="utf-8")
        judged = self.check(["fanline-pusher"], {"FANLINE_CONFIG": str(file)})
        self.assertEqual(judged.returncode, 78)
        self.assertIn("unknown key holds-hints", judged.stdout + judged.stderr)
