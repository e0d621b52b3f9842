"""The chart from the outside: what helm renders of it, for the values of helm/fanline/ci and others."""

import functools
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "helm" / "fanline"
TOOLS = ROOT / "build" / "tools"
KUBERNETES = "1.34.4"  # what is rendered for; the schemas and the real API server are of the same minor version
RELEASE, NAMESPACE = "blue", "feeds"


def tool(name):
    path = TOOLS / "bin" / name
    assert path.exists(), f"{path} is missing: run helm/setup"
    return str(path)


def run(*command, **more):
    """stdout; what a command says when it fails is the error's text."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def ci_values():
    """Name -> file, of every set of values that the chart is tested with."""
    found = {path.name.removesuffix("-values.yaml"): path for path in sorted((CHART / "ci").glob("*-values.yaml"))}
    assert found
    return found


@functools.cache
def template(values, chart=CHART):
    return run(tool("helm"), "template", RELEASE, chart, "--namespace", NAMESPACE, "--kube-version", KUBERNETES,
               "--values", values)


def objects(values):
    """(kind, name) -> object."""
    loaded = [each for each in yaml.safe_load_all(template(values)) if each]
    found = {(each["kind"], each["metadata"]["name"]): each for each in loaded}
    assert len(found) == len(loaded), "two objects of one kind and name"
    return found
