"""A real Kubernetes API without containers: etcd, API server, controllers and scheduler on free loopback
ports, and nodes by kwok, which run nothing and say that they do. All of it ends with the test, however it ends."""

import json
import os
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import yaml

from stack import tag, watchdog
from stack.ports import Ports
from stack.process import Process
from stack.waiting import wait_until
from stack.workspace import Workspace
from tests.helm.chart import TOOLS, tool

TOKEN = "a-cluster-of-one-test"
ZONES = ("a", "b", "c")
# kwok's own stages: nodes that are ready, pods that start, end when a Job made them, and go when told.
STAGES = ("node/fast", "node/heartbeat-with-lease", "pod/fast")


class Refused(Exception):
    """The API server's answer: .code and .message."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class Cluster:
    def __init__(self):
        self._ports = Ports()
        self._workspace = Workspace()
        self._lifeline = watchdog.start(self._workspace)
        # Debian's etcd 3.4 tells of no progress of watches, without which a list by a watch hangs.
        self._env = {**os.environ, tag.variable(self._workspace.id): "1", "KUBE_FEATURE_WatchListClient": "false"}
        self._processes = []
        self.folder = self._workspace.path
        self._tls = ssl._create_unverified_context()  # made for this run, on loopback
        self.url = None

    def start(self):
        etcd, peers, api = (self._ports.take() for _ in range(3))
        self.url = f"https://127.0.0.1:{api}"
        self._write_files()
        self._spawn("etcd", "--data-dir", self.folder / "etcd", "--unsafe-no-fsync",
                    "--listen-client-urls", f"http://127.0.0.1:{etcd}",
                    "--advertise-client-urls", f"http://127.0.0.1:{etcd}",
                    "--listen-peer-urls", f"http://127.0.0.1:{peers}",
                    "--initial-advertise-peer-urls", f"http://127.0.0.1:{peers}",
                    "--initial-cluster", f"default=http://127.0.0.1:{peers}")
        key = self.folder / "sa.key"
        self._spawn("kube-apiserver", f"--etcd-servers=http://127.0.0.1:{etcd}", "--bind-address=127.0.0.1",
                    f"--secure-port={api}", f"--cert-dir={self.folder}/certs", f"--service-account-key-file={key}",
                    f"--service-account-signing-key-file={key}",
                    "--service-account-issuer=https://kubernetes.default.svc",
                    "--service-cluster-ip-range=10.96.0.0/16", f"--token-auth-file={self.folder}/tokens.csv",
                    "--authorization-mode=RBAC", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
                    "--feature-gates=WatchList=false")
        wait_until(self._ready, 180, "the API server")
        self._spawn("kube-controller-manager", f"--kubeconfig={self.kubeconfig}", "--secure-port=0",
                    "--leader-elect=false", f"--service-account-private-key-file={key}")
        self._spawn("kube-scheduler", f"--kubeconfig={self.kubeconfig}", "--secure-port=0", "--leader-elect=false")
        self._spawn("kwok", f"--kubeconfig={self.kubeconfig}", f"--config={self.folder}/stages.yaml",
                    "--manage-all-nodes=true", "--node-lease-duration-seconds=40", "--node-ip=127.0.0.1", f"--server-address=127.0.0.1:{self._ports.take()}")
        for zone in ZONES:
            self.create("/api/v1/nodes", _node(zone))
        wait_until(lambda: all(_is_ready(node) for node in self.list("/api/v1/nodes")), 120, "ready nodes")

    def stop(self):
        for process in reversed(self._processes):
            process.terminate()
        tag.sweep(self._workspace.id)
        self._workspace.remove()
        os.close(self._lifeline)
        self._ports.close()

    @property
    def kubeconfig(self):
        return self.folder / "kubeconfig"

    def megabytes(self):
        """Resident memory of all its processes."""
        def of(process):
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) // 1024
        return {process.name: of(process) for process in self._processes}

    def request(self, method, path, body=None, kind="application/json"):
        """(object, warnings); Refused when the server says no."""
        asked = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": kind})
        try:
            with urllib.request.urlopen(asked, context=self._tls, timeout=60) as answer:
                return json.load(answer), answer.headers.get_all("Warning") or []
        except urllib.error.HTTPError as error:
            try:
                message = json.load(error).get("message", "")
            except ValueError:
                message = str(error)
            raise Refused(error.code, message) from None

    def get(self, path):
        return self.request("GET", path)[0]

    def list(self, path):
        return self.get(path)["items"]

    def create(self, path, body):
        return self.request("POST", path, body)[0]

    def patch(self, path, body):
        return self.request("PATCH", path, body, "application/merge-patch+json")[0]

    def helm(self, *words, check=True):
        """(what it said, seconds); stdout and stderr together, since warnings come by either."""
        since = time.monotonic()
        done = subprocess.run([tool("helm"), "--kubeconfig", self.kubeconfig, *map(str, words)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**self._env, **self._homes()}, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"helm {' '.join(map(str, words))}: {done.returncode}\n{done.stdout}\n{self.tails()}")
        return (done.stdout if check else (done.returncode, done.stdout)), time.monotonic() - since

    def tails(self):
        return "\n".join(f"---- {process.name}\n{process.tail(5)}" for process in self._processes)

    def _homes(self):
        return {f"HELM_{each}_HOME": str(self.folder / "helm" / each.lower()) for each in ("CACHE", "CONFIG", "DATA")}

    def _spawn(self, name, *words):
        self._processes.append(Process(name, [tool(name), *words], self._env, self._workspace.logs / f"{name}.log",
                                       self.folder))

    def _ready(self):
        for process in self._processes:
            assert process.running, f"{process.name} ended:\n{process.tail()}"
        try:
            asked = urllib.request.Request(self.url + "/readyz", headers={"Authorization": f"Bearer {TOKEN}"})
            with urllib.request.urlopen(asked, context=self._tls, timeout=5):
                return True
        except urllib.error.HTTPError:
            return False

    def _write_files(self):
        subprocess.run(["openssl", "genrsa", "-out", self.folder / "sa.key", "2048"], check=True, capture_output=True)
        (self.folder / "tokens.csv").write_text(f'{TOKEN},admin,admin,"system:masters"\n', encoding="utf-8")
        self.kubeconfig.write_text(yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": self.url, "insecure-skip-tls-verify": True}}],
            "users": [{"name": "admin", "user": {"token": TOKEN}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}]}), encoding="utf-8")
        self.kubeconfig.chmod(0o600)  # helm warns of others who could read it
        stages = [path.read_text(encoding="utf-8") for folder in STAGES
                  for path in sorted((TOOLS / "files" / "kwok-stages" / folder).glob("*.yaml"))
                  if path.name != "kustomization.yaml"]
        assert stages
        (self.folder / "stages.yaml").write_text("\n---\n".join(stages), encoding="utf-8")


def _node(zone):
    name = f"node-{zone}"
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                                                  "topology.kubernetes.io/zone": zone}},
            "status": {part: {"cpu": "32", "memory": "64Gi", "pods": "110", "ephemeral-storage": "64Gi"}
                       for part in ("capacity", "allocatable")}}


def _is_ready(node):
    return any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"].get("conditions") or [])
