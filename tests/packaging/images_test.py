"""The images: what is in them, and how they run. Commands, users, paths, ports and probes are those of the rendered
chart, whose daemons work on a real stack here. Each runs on its image's files as a read-only root, as the chart's
user, without a capability; namespaces of the network and of processes are the machine's."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import yaml

from packaging.components import loaded
from stack.local_stack import LocalStack, wait_until
from stack.programs import BIN
from tests.helm.chart import objects
from tests.packaging.root import Root

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "packaging/images"
ROLES = yaml.safe_load((ROOT / "helm/fanline/files/roles.yaml").read_text(encoding="utf-8"))
PROGRAMS = {**{role: f"fanline-{role}" for role in ROLES}, "feedctl": "feedctl"}
MOST_MB = 60
# Beside the program and what the loader finds for it; packaging/images/put-together has the reasons.
BESIDE = {"etc/passwd", "etc/group", "etc/ssl/certs/ca-certificates.crt"}
PLUGINS = {f"usr/lib/x86_64-linux-gnu/libmariadb3/plugin/{name}.so"
           for name in ("caching_sha2_password", "client_ed25519", "sha256_password")}
ST_RDONLY = 1


def buildah(*words):
    return subprocess.run([IMAGES / "buildah", *words], capture_output=True, text=True, check=True).stdout.strip()


class Images(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        began = time.monotonic()
        subprocess.run([IMAGES / "build", "--prebuilt", BIN], check=True)
        print(f"six images of built programs: {time.monotonic() - began:.0f} s", flush=True)
        cls.version = subprocess.run([BIN / "feedctl", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        cls.folders, cls.config = {}, {}
        for role, program in PROGRAMS.items():
            image = f"fanline/{program}:{cls.version}"
            container = buildah("from", "--pull-never", image)
            cls.addClassCleanup(buildah, "rm", container)
            cls.folders[role] = Path(buildah("mount", container))
            cls.config[role] = json.loads(buildah("inspect", "--type", "image", image))["OCIv1"]["config"]
        cls.contents = {role: [path for path in sorted(folder.rglob("*")) if not path.is_dir() or path.is_symlink()]
                        for role, folder in cls.folders.items()}

    def test_1_hold_the_program_and_what_it_loads_and_nothing_else(self):
        for role, folder in self.folders.items():
            with self.subTest(role):
                program = PROGRAMS[role]
                libraries = {str(Path(each).relative_to("/")) for each in loaded(BIN / program)}
                found = {path.relative_to(folder).as_posix() for path in self.contents[role]}
                documents = {each for each in found if each.startswith("usr/share/doc/")}
                self.assertEqual(found - documents, libraries | PLUGINS | BESIDE | {f"usr/bin/{program}"})
                self.assertIn(f"usr/share/doc/{program}/LICENSE", documents)
                sbom = json.loads((folder / f"usr/share/doc/{program}/{program}.cdx.json").read_text(encoding="utf-8"))
                for each in sbom["components"]:
                    if {"name": "fanline:how", "value": "loaded"} in each["properties"]:
                        self.assertIn(f"usr/share/doc/{each['name']}/copyright", documents)

    def test_2_are_small_and_nothing_in_them_may_be_changed(self):
        for role, folder in self.folders.items():
            with self.subTest(role):
                megabytes = sum(path.lstat().st_size for path in self.contents[role]) / 1e6
                print(f"fanline/{PROGRAMS[role]}: {megabytes:.1f} MB uncompressed, {len(self.contents[role])} files")
                self.assertLess(megabytes, MOST_MB)
                for path in folder.rglob("*"):
                    told = path.lstat()
                    self.assertEqual((told.st_uid, told.st_gid), (0, 0), path)
                    if not path.is_symlink():
                        self.assertFalse(told.st_mode & 0o7022, path)

    def test_3_say_what_the_chart_says(self):
        for role, config in self.config.items():
            with self.subTest(role):
                self.assertEqual(config["User"], "65532:65532")
                self.assertEqual(config["Entrypoint"], [f"/usr/bin/{PROGRAMS[role]}"])
                ports = set() if role == "feedctl" else {f"{ROLES[role]['adminPort']}/tcp"} | ({"8080/tcp"} if role == "api" else set())
                self.assertEqual(set(config.get("ExposedPorts", {})), ports)

    def test_4_run_as_the_chart_says_are_ready_and_drain(self):
        stack = LocalStack(say=lambda line: None)
        self.addCleanup(stack.stop)
        stack.start()
        found = objects(self.values(stack))
        job, = (each for (kind, _), each in found.items() if kind == "Job")
        pod = job["spec"]["template"]["spec"]
        for container in pod["initContainers"] + pod["containers"]:
            told = found["ConfigMap", container["envFrom"][0]["configMapRef"]["name"]]["data"]
            process = stack.spawn(container["name"], self.argv(found, stack, "feedctl", pod, container, told))
            wait_until(lambda p=process: not p.running, 60, container["name"])
            self.assertEqual(process.exit_code, 0, process.output())
        daemons = {}
        for (kind, _), each in found.items():
            if kind == "Deployment":
                pod = each["spec"]["template"]["spec"]
                container, = pod["containers"]
                told = {variable["name"]: variable["value"] for variable in container["env"]}
                argv = self.argv(found, stack, container["name"], pod, container, told)
                daemons[container["name"]] = (stack.spawn(container["name"], argv), pod, container)
        self.assertEqual(set(daemons), set(ROLES))
        for role, (process, pod, container) in daemons.items():
            wait_until(lambda p=process, c=container: self.ready(p, c), 60, f"{role} to be ready")
            self.assert_held_tight(process, pod, container)
        self.assertEqual(self.get(8080, "/v1/users/42/timeline"), 200)
        for role, (process, pod, _) in daemons.items():
            began = time.monotonic()
            process.signal(signal.SIGTERM)
            self.assertEqual(process.wait(pod["terminationGracePeriodSeconds"]), 0, process.output())
            self.assertIn('"msg":"drained"', process.output())
            print(f"fanline/{PROGRAMS[role]}: drained within {time.monotonic() - began:.1f} s", flush=True)

    def values(self, stack):
        """The chart's own, with this stack's addresses."""
        told = stack.env
        path = stack.logs / "values.yaml"
        path.write_text(yaml.safe_dump({
            "externalKafka": {"brokers": told["FANLINE_KAFKA_BROKERS"].split(",")},
            "externalRedis": {"nodes": told["FANLINE_REDIS"].split(",")},
            "externalDatabase": {"shards": told["FANLINE_MYSQL_SHARDS"].split(","), "user": told["FANLINE_MYSQL_USER"],
                                 "existingSecret": "mariadb"}}), encoding="utf-8")
        return path

    def argv(self, found, stack, role, pod, container, environment):
        """What a runtime makes of that container: its mounts where the manifest wants them, /proc and /dev besides."""
        context, tight = pod["securityContext"], container["securityContext"]
        self.assertTrue(context["runAsNonRoot"] and tight["readOnlyRootFilesystem"])
        self.assertEqual(tight["capabilities"], {"drop": ["ALL"]})
        folder, binds = self.folders[role], {}
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        for mount in container["volumeMounts"]:
            place = Path(tempfile.mkdtemp(dir=stack.logs))
            volume = volumes[mount["name"]]
            if "configMap" in volume:
                content = found["ConfigMap", volume["configMap"]["name"]]["data"]
            else:
                content = {item["path"]: stack.env["FANLINE_MYSQL_PASSWORD"] for item in volume["secret"]["items"]}
            for name, text in content.items():
                (place / name).write_text(text, encoding="utf-8")
                os.chown(place / name, 0, context["fsGroup"])
                (place / name).chmod(0o440)
            place.chmod(0o755)
            (folder / mount["mountPath"].lstrip("/")).mkdir(parents=True, exist_ok=True)
            binds[mount["mountPath"]] = place
        for name in ("proc", "dev"):
            (folder / name).mkdir(exist_ok=True)
        for device in ("null", "urandom"):
            (folder / "dev" / device).touch()
            binds[f"/dev/{device}"] = f"/dev/{device}"
        user = f"{context['runAsUser']}:{context['runAsGroup']}"
        return Root(folder).argv(container["command"], user, environment, binds, read_only=True)

    def ready(self, process, container):
        self.assertTrue(process.running, process.output())
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        probe = container["readinessProbe"]["httpGet"]
        return self.get(ports[probe["port"]], probe["path"]) == 200

    def get(self, port, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def assert_held_tight(self, process, pod, container):
        status = dict(line.split(":\t", 1) for line in
                      Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").splitlines() if ":\t" in line)
        self.assertEqual(status["Uid"].split(), [str(pod["securityContext"]["runAsUser"])] * 4)
        self.assertEqual(int(status["CapEff"], 16), 0)
        self.assertEqual(status["NoNewPrivs"].strip(), "1")
        self.assertTrue(os.statvfs(f"/proc/{process.pid}/root/").f_flag & ST_RDONLY)
        self.assertEqual(Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")[0].decode(), container["command"][0])
