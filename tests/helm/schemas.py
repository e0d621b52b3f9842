"""JSON schemas for kubeconform, without a network: Kubernetes' own from the package kubernetes-validate, the
others made of their CRDs. Strict: a field that nobody knows is refused, as the API server does not."""

import json

import yaml

from tests.helm.chart import KUBERNETES, TOOLS

OWN = "kubernetes_validate/kubernetes-json-schema"
OF_OPERATORS = ("scaledobjects", "triggerauthentications", "podmonitors", "servicemonitors", "prometheusrules")
# As kubeconform calls them: the kind, and what names its group and version.
BY_KIND = "{{ .ResourceKind }}{{ .KindSuffix }}.json"


class Loader(yaml.CSafeLoader):
    """In which a bare `=` is a text, as in YAML 1.2."""


Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)


def write(folder):
    """All of them into that folder; answers where kubeconform finds them."""
    write_own(folder)
    write_crds(folder)
    return f"{folder}/{BY_KIND}"


def write_own(folder):
    """Kubernetes' own, which refer to each other by a path of a server."""
    minor = KUBERNETES.rsplit(".", 1)[0]
    kept = next((TOOLS / "venv" / "lib").glob(f"python3*/site-packages/{OWN}/v{minor}.0-local-strict"))
    for path in kept.glob("*.json"):
        text = path.read_text(encoding="utf-8").replace("/api/_definitions.json#", "_definitions.json#")
        (folder / path.name).write_text(text.replace('"$id":', '"x-id":'), encoding="utf-8")  # of that server


def strict(schema):
    """The same schema, with every object closed that does not say that it is open."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    if (isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema
            and not schema.get("x-kubernetes-preserve-unknown-fields")):
        closed["additionalProperties"] = False
    if schema.get("x-kubernetes-int-or-string"):
        closed.pop("type", None)
    return closed


def write_crds(folder):
    """One file for each version of the CRDs that the chart has objects of."""
    for resource in OF_OPERATORS:
        path, = (TOOLS / "files").rglob(f"*_{resource}.yaml")
        crd = yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)
        for version in crd["spec"]["versions"]:
            schema = strict(version["schema"]["openAPIV3Schema"])
            schema["properties"]["metadata"] = {"type": "object"}
            group = crd["spec"]["group"].split(".")[0]
            name = f"{crd['spec']['names']['kind'].lower()}-{group}-{version['name']}.json"
            (folder / name).write_text(json.dumps(schema), encoding="utf-8")
