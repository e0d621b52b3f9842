"""hadolint has nothing to say of the Dockerfile."""

import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HADOLINT = ROOT / "build/tools/packaging/bin/hadolint"


def judge(text):
    return subprocess.run([HADOLINT, "--failure-threshold", "style", "-"], input=text, text=True, capture_output=True, check=False)


class Dockerfile(unittest.TestCase):
    def test_is_clean(self):
        text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
        judged = judge(text)
        self.assertEqual((judged.returncode, judged.stdout), (0, ""))
        spoilt = judge(text.replace("WORKDIR /fanline", "RUN cd /fanline"))
        self.assertIn("DL3003", spoilt.stdout)
        self.assertNotEqual(spoilt.returncode, 0)
