#!/usr/bin/python3
"""What our programs consist of besides our own code: libraries that they load, and libraries of headers that
were compiled into them; of which Debian package each is, and under which licence.

components.py --packages       the Debian packages that programs need at run time
components.py --sbom FOLDER    PROGRAM.cdx.json (CycloneDX) of each program, with the versions of this machine

Asks ldd, dpkg and the compiler's own record of what it read (ninja -t deps), so nothing can be forgotten:
a library whose licence is not written here is an error."""

import argparse
import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(os.environ.get("FANLINE_BIN", ROOT / "build" / "release" / "bin")).resolve()
PROGRAMS = ("fanline-dispatcher", "fanline-pusher", "fanline-mirror", "fanline-reconciler", "fanline-api", "feedctl")

# Debian's source package -> what its libraries are distributed under (SPDX), as its copyright file says.
LICENCES = {
    "boost1.74": "BSL-1.0",
    "ca-certificates": "MPL-2.0",
    "cyrus-sasl2": "BSD-3-Clause-Attribution",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "hiredis": "BSD-3-Clause",
    "jemalloc": "BSD-2-Clause",
    "libzstd": "BSD-3-Clause",
    "lz4": "BSD-2-Clause",
    "mariadb": "LGPL-2.1-or-later",
    "mysql-connector-c++": "GPL-2.0-only WITH Universal-FOSS-exception-1.0",
    "nlohmann-json3": "MIT",
    "librdkafka": "BSD-2-Clause",
    "openssl": "Apache-2.0",
    "prometheus-cpp": "MIT",
    "protobuf": "BSD-3-Clause",
    "zlib": "Zlib",
}
# Headers of every C program on Linux: numbers of system calls, no code.
NO_CODE = {"linux"}

LINKED, COMPILED_IN, BESIDE = "loaded", "compiled in", "data"


class Component(NamedTuple):
    package: str
    source: str
    version: str
    licence: str
    how: str


def _run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def loaded(program):
    """The shared libraries that the loader finds for it, the loader among them."""
    said = _run("ldd", program)
    assert "not found" not in said, f"{program}:\n{said}"
    return sorted(set(re.findall(r"(/\S+) \(0x", said)))


@functools.cache
def _owners():
    """Path -> package, of all that dpkg has installed."""
    return {path: listing.name.removesuffix(".list").split(":")[0]
            for listing in Path("/var/lib/dpkg/info").glob("*.list")
            for path in listing.read_text(encoding="utf-8").splitlines()}


def package_of(path):
    """dpkg may know a file by its name before or after /lib became a link."""
    path = os.path.realpath(path)
    for known in (path, path.removeprefix("/usr")):
        if known in _owners():
            return _owners()[known]
    raise LookupError(f"no Debian package holds {path}")


@functools.cache
def _told(package):
    source, version = _run("dpkg-query", "-W", "-f", "${source:Package} ${Version}\n", package).splitlines()[0].split()
    return source, version


def component(package, how):
    source, version = _told(package)
    assert source in LICENCES, f"{package} is {how}: say in packaging/components.py under which licence {source} is"
    return Component(package, source, version, LICENCES[source], how)


@functools.cache
def _headers():
    """Object -> the headers that the compiler read for it."""
    found, current = {}, None
    for line in _run("ninja", "-C", BIN.parent, "-t", "deps").splitlines():
        if line.startswith("    "):
            if line.startswith("    /usr/"):
                current.append(line.strip())
        elif line:
            current = found.setdefault(line.split(":")[0], [])
    return found


def compiled_in(program):
    """Debian packages of which headers were read for it."""
    inputs = _run("ninja", "-C", BIN.parent, "-t", "inputs", f"bin/{Path(program).name}").splitlines()
    headers = {header for each in inputs for header in _headers().get(each, ())}
    assert headers, f"{BIN.parent} does not know what {program} was compiled of: build it there"
    return {package_of(header) for header in headers}


def components(program):
    """All of a program, each once. A header of a library that is loaded is no other component."""
    loads = {component(package_of(path), LINKED) for path in loaded(program)}
    sources = {each.source for each in loads} | NO_CODE
    reads = {component(package, COMPILED_IN) for package in compiled_in(program) if _told(package)[0] not in sources}
    return sorted(loads | reads)


def sbom(program):
    """A CycloneDX document."""
    version = _run(program, "--version").split()[-1]
    name = Path(program).name
    root = f"{name}@{version}"

    def purl(each):
        return f"pkg:deb/debian/{each.package}@{each.version}?arch=amd64&distro=debian-12".replace("+", "%2B")

    found = components(program)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": root, "name": name, "version": version,
                                   "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": [{"type": "library", "bom-ref": purl(each), "name": each.package, "version": each.version,
                        "licenses": [{"expression": each.licence}], "purl": purl(each),
                        "properties": [{"name": "fanline:how", "value": each.how},
                                       {"name": "fanline:source", "value": each.source}]} for each in found],
        "dependencies": [{"ref": root, "dependsOn": [purl(each) for each in found]}],
    }


def write_sboms(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        (folder / f"{name}.cdx.json").write_text(json.dumps(sbom(BIN / name), indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", action="store_true")
    parser.add_argument("--sbom", type=Path)
    options = parser.parse_args()
    if options.packages:
        print(" ".join(sorted({package_of(path) for name in PROGRAMS for path in loaded(BIN / name)})))
    if options.sbom:
        write_sboms(options.sbom)


if __name__ == "__main__":
    sys.exit(main())
