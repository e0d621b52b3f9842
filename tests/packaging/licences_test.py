"""Everything that programs consist of is listed: the SBOM of each program is CycloneDX and names whatever the loader finds."""

import functools
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import jsonschema

from packaging import components
from stack.programs import BIN

SCHEMAS = components.ROOT / "build/tools/packaging/lib"
FOLDERS = ("/lib/x86_64-linux-gnu", "/lib64")


def validator():
    folder = next(SCHEMAS.glob("python3*/site-packages/cyclonedx/schema/_res"))

    def load(name):
        return json.loads((folder / name).read_text(encoding="utf-8"))

    schema = load("bom-1.5.SNAPSHOT.schema.json")
    beside = schema["$id"].rpartition("/")[0]  # where it refers to the others
    store = {f"{beside}/{name}": load(name) for name in ("spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json")}
    resolver = jsonschema.RefResolver.from_schema(schema, store=store)
    return jsonschema.Draft7Validator(schema, resolver=resolver)


class Licences(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        components.write_sboms(Path(folder.name))
        cls.sboms = {name: json.loads(Path(folder.name, f"{name}.cdx.json").read_text(encoding="utf-8"))
                     for name in components.PROGRAMS}

    def test_every_sbom_is_cyclonedx(self):
        judge = validator()
        for name, sbom in self.sboms.items():
            self.assertEqual([each.message for each in judge.iter_errors(sbom)], [], name)
        spoilt = {**self.sboms["feedctl"], "components": [{"name": "x"}]}
        self.assertFalse(judge.is_valid(spoilt))

    def test_every_library_that_a_program_loads_is_in_its_sbom(self):
        """By a way of its own: the names that the program asks the loader for, and theirs, and dpkg's answer."""
        for name in components.PROGRAMS:
            listed = {each["name"] for each in self.sboms[name]["components"]}
            asked = self.needed(BIN / name)
            self.assertGreater(len(asked), 8)
            for library in asked:
                self.assertTrue(self.packages_with(library) & listed, f"{name} loads {library}")

    @functools.cache
    def packages_with(self, library):
        """dpkg knows a file by its name before or after /lib became a link."""
        places = [os.path.realpath(f"{folder}/{library}") for folder in FOLDERS if os.path.exists(f"{folder}/{library}")]
        places += [place.removeprefix("/usr") for place in places]
        said = subprocess.run(["dpkg", "-S", *places], capture_output=True, text=True, check=False).stdout
        return {line.split(":")[0] for line in said.splitlines()}

    def needed(self, program):
        """NEEDED of the program and of what that needs."""
        found, left = set(), [program]
        while left:
            said = subprocess.run(["readelf", "-d", left.pop()], capture_output=True, text=True, check=True).stdout
            for library in re.findall(r"\(NEEDED\).*\[(.*)\]", said):
                if library not in found:
                    found.add(library)
                    left += [path for folder in FOLDERS if os.path.exists(path := f"{folder}/{library}")][:1]
        return found

    def test_headers_alone_count_too(self):
        for name, sbom in self.sboms.items():
            compiled_in = {each["name"] for each in sbom["components"]
                           if {"name": "fanline:how", "value": "compiled in"} in each["properties"]}
            self.assertLessEqual({"libboost1.74-dev", "nlohmann-json3-dev"}, compiled_in, name)

    def test_a_library_of_an_unknown_licence_is_an_error(self):
        with self.assertRaisesRegex(AssertionError, "under which licence coreutils is"):
            components.component("coreutils", components.LINKED)
