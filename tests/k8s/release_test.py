"""The chart on a real API server with the CRDs of KEDA and of the Prometheus operator: installed, upgraded,
scaled, rolled back, refused and removed, in a namespace that enforces `restricted` and warns of less."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

import yaml

from pages import markdown
from stack.waiting import wait_until
from tests.helm.chart import CHART, ROOT, TOOLS, ci_values, tool
from tests.helm.schemas import Loader
from tests.k8s.cluster import Cluster, Refused, ZONES

NAMESPACE, RELEASE = "feeds", "blue"
APPS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
KEDA = f"/apis/keda.sh/v1alpha1/namespaces/{NAMESPACE}/scaledobjects"
MONITORING = f"/apis/monitoring.coreos.com/v1/namespaces/{NAMESPACE}"
ROLES = {"dispatcher", "pusher", "mirror", "reconciler", "api"}
LABEL = f"?labelSelector=app.kubernetes.io%2Finstance%3D{RELEASE}"
# Every kind that the chart has objects of.
KINDS = [APPS, f"{CORE}/configmaps", f"{CORE}/services", f"{CORE}/serviceaccounts", f"{CORE}/pods", KEDA,
         f"/apis/keda.sh/v1alpha1/namespaces/{NAMESPACE}/triggerauthentications",
         f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs", f"/apis/batch/v1/namespaces/{NAMESPACE}/cronjobs",
         f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets",
         f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/networkpolicies",
         f"/apis/autoscaling/v2/namespaces/{NAMESPACE}/horizontalpodautoscalers",
         *(f"{MONITORING}/{kind}" for kind in ("podmonitors", "servicemonitors", "prometheusrules"))]


class Release(unittest.TestCase):
    """One release's life, in the order of the methods' names."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        for operator in ("keda", "prometheus-operator"):
            for path in sorted((TOOLS / "files" / operator).glob("*_*.yaml")):
                cls.cluster.create(CRDS, yaml.load(path.read_text(encoding="utf-8"), Loader=Loader))
        wait_until(lambda: all(any(each["type"] == "Established" and each["status"] == "True"
                                   for each in crd.get("status", {}).get("conditions") or [])
                               for crd in cls.cluster.list(CRDS)), 60, "the operators' CRDs")
        cls.cluster.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": {
            f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}}})
        wait_until(lambda: cls.account_is_there(), 60, "the namespace's account")
        print(f"memory (MB): {cls.cluster.megabytes()}", flush=True)

    @classmethod
    def account_is_there(cls):
        return any(each["metadata"]["name"] == "default" for each in cls.cluster.list(f"{CORE}/serviceaccounts"))

    def helm(self, *words, step):
        said, seconds = self.cluster.helm(*words, "--namespace", NAMESPACE)
        print(f"{step}: {seconds:.1f} s", flush=True)
        self.assertNotIn("would violate", said)  # PodSecurity's words
        self.assertNotIn("warnings.go", said)  # nor anything else that the server warns of
        return said

    def upgrade(self, values, *settings, step):
        return self.helm("upgrade", "--install", RELEASE, CHART, "--values", ci_values()[values], "--wait",
                         "--timeout", "180s", *settings, step=step)

    def deployments(self):
        return {each["metadata"]["name"].removeprefix(f"{RELEASE}-fanline-"): each for each in self.cluster.list(APPS)}

    def pods(self, role):
        pods = self.cluster.list(f"{CORE}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3D{role}")
        return [each for each in pods if "deletionTimestamp" not in each["metadata"]]

    def revision(self):
        said = self.cluster.helm("history", RELEASE, "--namespace", NAMESPACE, "--output", "json")[0]
        return max(json.loads(said), key=lambda each: each["revision"])

    def test_1_what_is_not_restricted_is_noticed_here(self):
        """So that the silence below means something."""
        template = {"metadata": {"labels": {"app": "loose"}}, "spec": {"containers": [{"name": "x", "image": "x"}]}}
        chart = self.cluster.folder / "loose"
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text("{apiVersion: v2, name: loose, version: 0.1.0}", encoding="utf-8")
        (chart / "templates" / "loose.yaml").write_text(json.dumps({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "loose"},
            "spec": {"selector": {"matchLabels": {"app": "loose"}}, "template": template}}), encoding="utf-8")
        said, _ = self.cluster.helm("install", "loose", chart, "--namespace", NAMESPACE)
        self.assertIn("would violate PodSecurity", said)
        self.cluster.helm("uninstall", "loose", "--namespace", NAMESPACE)
        with self.assertRaisesRegex(Refused, "violates PodSecurity"):
            self.cluster.create(f"{CORE}/pods", {"metadata": {"name": "loose"},
                                                 "spec": {"containers": [{"name": "x", "image": "x"}]}})

    def test_2_is_installed_after_tables_and_topics_were_made(self):
        said = self.upgrade("ha", step="install")
        self.assertIn("rollout status", said)  # NOTES.txt
        found = self.deployments()
        self.assertEqual(set(found), ROLES)
        for role, each in found.items():
            self.assertEqual(each["status"].get("availableReplicas"), 3, role)
            self.assertEqual({pod["spec"]["nodeName"] for pod in self.pods(role)}, {f"node-{zone}" for zone in ZONES})
        self.assertEqual(self.cluster.list(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"), [])  # it went when it was done
        self.assertEqual(len(self.cluster.list(f"{MONITORING}/podmonitors")), 1)
        self.assertGreaterEqual(len(self.cluster.list(f"{MONITORING}/prometheusrules")), 5)
        events = self.cluster.list(f"{CORE}/events")
        self.assertTrue([each for each in events if each["involvedObject"]["name"] == f"{RELEASE}-fanline-setup"
                         and each["reason"] == "Completed"])

    def test_3_a_changed_option_restarts_just_that_daemon(self):
        before = self.deployments()
        self.upgrade("ha", "--set", "pusher.config.gather=50ms", step="upgrade of one option")
        after = self.deployments()
        changed = {role for role in ROLES if after[role]["metadata"]["generation"] != before[role]["metadata"]["generation"]}
        self.assertEqual(changed, {"pusher"})
        self.assertEqual(self.revision()["revision"], 2)

    def test_4_scales(self):
        self.upgrade("ha", "--set", "pusher.replicaCount=6,pusher.config.gather=50ms", step="scale from 3 to 6")
        # --wait is content as soon as six are available; one more may still be on its way out.
        wait_until(lambda: self.deployments()["pusher"]["status"].get("availableReplicas") == len(self.pods("pusher")) == 6,
                   60, "six pushers")

    def test_5_what_cannot_be_meant_changes_nothing(self):
        before = self.revision()["revision"]
        (code, said), _ = self.cluster.helm("upgrade", RELEASE, CHART, "--namespace", NAMESPACE, "--values",
                                            ci_values()["ha"], "--set", "pusher.replicaCount=65", check=False)
        self.assertNotEqual(code, 0)
        self.assertIn("feedctl.config.ranges is 64", said)
        self.assertEqual(self.revision()["revision"], before)

    def test_5_what_operators_type_runs_what_it_says(self):
        """Up to the pod: no node here runs anything."""
        page = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
        section = re.search(r"^## What operators type\n(.*?)^## ", page, re.S | re.M)[1]
        doctor, other = markdown.blocks(section, "sh")
        create, wait, look = doctor.strip().splitlines()
        self.type_command(create)
        self.assertEqual(self.command_of_job("look"), ["/usr/bin/feedctl", "doctor"])
        self.type_command(wait)
        self.assertIn("Complete", self.ends_of_job("look"))
        remove = look.partition("; ")[2]
        self.type_command(remove)
        self.type_command(other)
        self.assertEqual(self.command_of_job("look"), ["/usr/bin/feedctl", "doctor", "5"])
        self.type_command(remove)
        wait_until(lambda: not self.pods_of_job("look"), 60, "its pod to go")

    def type_command(self, text):
        """In the release's namespace."""
        config = yaml.safe_load(self.cluster.kubeconfig.read_text(encoding="utf-8"))
        config["contexts"][0]["context"]["namespace"] = NAMESPACE
        file = self.cluster.folder / "kubeconfig-of-the-namespace"
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        file.chmod(0o600)
        ended = subprocess.run(["/bin/bash", "-eo", "pipefail", "-c", text.replace("fanline-doctor", f"{RELEASE}-fanline-doctor")],
                               env={**os.environ, "KUBECONFIG": str(file), "PATH": f"{Path(tool('kubectl')).parent}:{os.environ['PATH']}"},
                               capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(ended.returncode, 0, f"{text}\n{ended.stdout}{ended.stderr}")
        self.assertNotIn("Warning", ended.stderr)

    def pods_of_job(self, name):
        return self.cluster.list(f"{CORE}/pods?labelSelector=batch.kubernetes.io%2Fjob-name%3D{name}")

    def ends_of_job(self, name):
        job = self.cluster.get(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{name}")
        return [each["type"] for each in job["status"].get("conditions") or [] if each["status"] == "True"]

    def command_of_job(self, name):
        """What its pod was made with."""
        pod = wait_until(lambda: self.pods_of_job(name), 60, f"a pod of the Job {name}")[0]
        container, = pod["spec"]["containers"]
        return container["command"]

    def test_6_one_pod_of_a_role_may_be_taken_away_at_a_time(self):
        first, second, *_ = (pod["metadata"]["name"] for pod in self.pods("mirror"))
        wait_until(lambda: self.cluster.get(f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets/"
                                            f"{RELEASE}-fanline-mirror").get("status", {}).get("disruptionsAllowed") == 1,
                   60, "the budget")
        self.evict(first)
        with self.assertRaises(Refused) as refused:
            self.evict(second)
        self.assertEqual(refused.exception.code, 429)
        wait_until(lambda: self.deployments()["mirror"]["status"].get("availableReplicas") == 3, 60, "another mirror")

    def evict(self, pod):
        self.cluster.create(f"{CORE}/pods/{pod}/eviction",
                            {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}})

    def test_7_is_rolled_back(self):
        self.helm("rollback", RELEASE, "1", "--wait", "--timeout", "180s", step="rollback to the first")
        pusher = self.deployments()["pusher"]
        self.assertEqual(pusher["spec"]["replicas"], 3)
        told = self.cluster.get(f"{CORE}/configmaps/{RELEASE}-fanline-pusher")["data"]["pusher.conf"]
        self.assertNotIn("gather", told)

    def test_8_keda_decides_and_an_upgrade_leaves_its_number_alone(self):
        """KEDA itself does not run here: its CRDs judge what it would be told."""
        self.upgrade("keda", step="upgrade to KEDA")
        self.assertEqual(len(self.cluster.list(KEDA)), 4)
        name = f"{RELEASE}-fanline-pusher"
        self.cluster.patch(f"{APPS}/{name}/scale", {"spec": {"replicas": 5}})  # as KEDA's autoscaler would
        self.upgrade("keda", "--set", "pusher.config.gather=60ms", step="upgrade under KEDA")
        self.assertEqual(self.deployments()["pusher"]["spec"]["replicas"], 5)
        right = self.cluster.get(f"{KEDA}/{name}")
        for wrong in ({"minReplicaCount": "two"}, {"triggers": "kafka"}, {"scaleTargetRef": None}):
            with self.subTest(wrong), self.assertRaises(Refused) as refused:
                self.cluster.patch(f"{KEDA}/{name}", {"spec": wrong})
            self.assertEqual(refused.exception.code, 422)
        self.assertEqual(self.cluster.get(f"{KEDA}/{name}")["spec"], right["spec"])

    def test_9_is_removed_without_a_trace(self):
        self.helm("uninstall", RELEASE, "--wait", "--timeout", "180s", step="uninstall")
        wait_until(lambda: not self.cluster.list(f"{CORE}/pods"), 60, "pods that go")
        left = [(path, each["metadata"]["name"]) for path in KINDS for each in self.cluster.list(path + LABEL)]
        self.assertEqual(left, [])
        secrets = [each["metadata"]["name"] for each in self.cluster.list(f"{CORE}/secrets")]
        self.assertEqual([name for name in secrets if "helm" in name], [])
