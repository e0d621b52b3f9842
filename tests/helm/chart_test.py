"""helm/fanline renders what Kubernetes takes, for all values it is tested with."""

import tempfile
import unittest
from pathlib import Path

import yaml

from tests.helm import schemas
from tests.helm.chart import CHART, KUBERNETES, RELEASE, ROOT, ci_values, objects, run, template, tool


class Chart(unittest.TestCase):
    def test_lints(self):
        for name, values in ci_values().items():
            with self.subTest(name):
                said = run(tool("helm"), "lint", "--strict", "--kube-version", KUBERNETES, CHART, "--values", values)
                self.assertNotIn("[WARNING]", said)

    def test_is_what_kubernetes_and_the_operators_take_strictly(self):
        with tempfile.TemporaryDirectory() as folder:
            known, rendered = Path(folder, "schemas"), Path(folder, "rendered")
            known.mkdir()
            rendered.mkdir()
            where = schemas.write(known)
            kinds = set()
            for name, values in ci_values().items():
                (rendered / f"{name}.yaml").write_text(template(values), encoding="utf-8")
                kinds |= {kind for kind, _ in objects(values)}
            self.assertLessEqual({"ScaledObject", "TriggerAuthentication", "PrometheusRule", "PodMonitor", "ServiceMonitor",
                                  "HorizontalPodAutoscaler", "CronJob", "Job"}, kinds)
            self.conform(rendered, where)
            wrong = (rendered / "keda.yaml").read_text(encoding="utf-8").replace("minReplicaCount:", "minReplicas:")
            (rendered / "keda.yaml").write_text(wrong, encoding="utf-8")
            with self.assertRaisesRegex(AssertionError, "minReplicas"):  # it would have noticed
                self.conform(rendered, where)

    def conform(self, rendered, where):
        run(tool("kubeconform"), "-strict", "-summary", "-kubernetes-version", KUBERNETES,
            "-schema-location", where, rendered)

    def test_is_packed_whole_and_without_what_only_tests_need(self):
        with tempfile.TemporaryDirectory() as folder:
            run(tool("helm"), "package", CHART, "--destination", folder)
            packed, = Path(folder).glob("fanline-*.tgz")
            inside = run("tar", "tzf", packed).split()
            self.assertFalse([path for path in inside if "/ci/" in path or "/tests/" in path])
            for values in ci_values().values():
                self.assertEqual(template(values, packed), template(values))
            for each in [*(ROOT / "prometheus/rules").glob("*.yaml"), *(ROOT / "prometheus/dashboards").glob("*.json")]:
                self.assertIn(f"fanline/files/{each.parent.name}/{each.name}", inside)

    def test_selects_pods_by_labels_that_no_value_changes(self):
        """An upgrade cannot change a Deployment's selector."""
        plain, dressed = (objects(ci_values()[name]) for name in ("minimal", "ha"))
        for (kind, name), each in plain.items():
            if kind == "Deployment":
                self.assertEqual(each["spec"]["selector"], dressed[kind, name]["spec"]["selector"])


class Pods(unittest.TestCase):
    """Of every workload of every set of values."""

    def pods(self):
        for name, values in ci_values().items():
            for (kind, workload), each in objects(values).items():
                spec = each["spec"] if isinstance(each.get("spec"), dict) else {}
                spec = spec.get("jobTemplate", each).get("spec", {})
                if "template" in spec:
                    yield f"{name}: {kind} {workload}", each, spec["template"]["spec"]

    def test_are_restricted(self):
        seen = 0
        for label, _, pod in self.pods():
            seen += 1
            with self.subTest(label):
                self.assertTrue(pod["securityContext"]["runAsNonRoot"])
                self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
                self.assertIs(pod["automountServiceAccountToken"], False)
                self.assertIs(pod["enableServiceLinks"], False)
                for container in pod["containers"] + pod.get("initContainers", []):
                    context = container["securityContext"]
                    self.assertTrue(context["readOnlyRootFilesystem"])
                    self.assertIs(context["allowPrivilegeEscalation"], False)
                    self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
        self.assertGreater(seen, 30)

    def test_get_secrets_as_files_alone(self):
        text = "".join(template(values) for values in ci_values().values())
        self.assertNotIn("secretKeyRef", text)
        self.assertNotIn("kind: Secret", text)
        for label, _, pod in self.pods():
            with self.subTest(label):
                mounted = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
                self.assertEqual(mounted, {volume["name"] for volume in pod["volumes"]})

    def test_are_asked_for_what_the_probes_mean(self):
        for label, workload, pod in self.pods():
            if workload["kind"] == "Deployment":
                container, = pod["containers"]
                paths = {probe: container[f"{probe}Probe"]["httpGet"] for probe in ("startup", "liveness", "readiness")}
                with self.subTest(label):
                    self.assertEqual(paths, {"startup": {"path": "/healthz", "port": "metrics"},
                                             "liveness": {"path": "/healthz", "port": "metrics"},
                                             "readiness": {"path": "/readyz", "port": "metrics"}})


class Policies(unittest.TestCase):
    def test_every_pod_has_one_and_the_hook_s_is_there_before_it(self):
        found = objects(ci_values()["minimal"])
        policies = [each for (kind, _), each in found.items() if kind == "NetworkPolicy"]
        for (kind, name), each in found.items():
            if kind in ("Deployment", "Job"):
                labels = each["spec"]["template"]["metadata"]["labels"]
                mine = [policy for policy in policies
                        if policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()]
                with self.subTest(f"{kind} {name}"):
                    self.assertTrue(mine)
                    hook = each["metadata"].get("annotations", {}).get("helm.sh/hook")
                    weights = [int(policy["metadata"]["annotations"]["helm.sh/hook-weight"]) for policy in mine
                               if "helm.sh/hook" in policy["metadata"].get("annotations", {})]
                    self.assertEqual(bool(hook), bool(weights) and kind == "Job")
                    if hook:
                        self.assertLess(min(weights), 0)

    def test_lets_out_to_every_service_a_role_is_told_of(self):
        found = objects(ci_values()["tls"])
        for role, ports in {"dispatcher": {9093, 3306, 3307}, "pusher": {9093, 26379, 3306, 3307},
                            "api": {9093, 26379, 3306, 3307, 3310}}.items():
            out = found["NetworkPolicy", f"blue-fanline-{role}"]["spec"]["egress"]
            with self.subTest(role):
                self.assertEqual({each["port"] for each in out[1]["ports"]}, ports | {6379})


class Restarts(unittest.TestCase):
    def test_a_daemon_when_its_own_options_change_and_no_other(self):
        def sums(*settings):
            rendered = run(tool("helm"), "template", RELEASE, CHART, "--kube-version", KUBERNETES, "--values",
                           ci_values()["minimal"], *settings)
            return {each["metadata"]["name"]: each["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
                    for each in yaml.safe_load_all(rendered) if each and each["kind"] == "Deployment"}
        before = sums()
        for setting, restarted in {"pusher.config.gather=50ms": {"pusher"},
                                   "externalRedis.keyPrefix=blue:": {"pusher", "api"},
                                   "commonLabels.team=feeds": set(),
                                   "topics.feed=posts": set(),
                                   "topics.relationEvents=follows": {"mirror"}}.items():
            with self.subTest(setting):
                after = sums("--set", setting)
                self.assertEqual({name.removeprefix("blue-fanline-") for name, each in after.items()
                                  if each != before[name]}, restarted)
