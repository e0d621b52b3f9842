"""kube-score finds nothing in the chart's manifests, but for what we do on purpose."""

import subprocess
import unittest

from tests.helm.chart import ci_values, template, tool

# Opinions that we do not share, and why.
NOT_OURS = {
    "container-image-pull-policy",  # a tag of a release does not move; Always would need the registry at each restart
    "deployment-replicas",  # of what KEDA scales its ScaledObject says how many
    "deployment-has-host-podantiaffinity",  # topologySpreadConstraints do it, over zones too
}


class Manifests(unittest.TestCase):
    def test_have_nothing_that_a_reviewer_would_refuse(self):
        for name in ("ha", "keda", "tls"):
            with self.subTest(name):
                ignored = [word for test in sorted(NOT_OURS) for word in ("--ignore-test", test)]
                judged = subprocess.run(
                    [tool("kube-score"), "score", "--kubernetes-version", "v1.34", "--ignore-container-cpu-limit",
                     "--output-format", "ci", *ignored, "-"],
                    input=template(ci_values()[name]), capture_output=True, text=True, check=False)
                self.assertIn("[OK]", judged.stdout)
                bad = [line for line in judged.stdout.splitlines() if line.startswith(("[CRITICAL]", "[WARNING]"))]
                self.assertEqual(bad, [], judged.stderr)
