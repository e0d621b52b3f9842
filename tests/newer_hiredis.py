#!/usr/bin/python3
"""The Redis adapter on a hiredis of 1.x: make test-long runs it.

Debian 12 has 0.14. The source of Debian 13's is fetched by apt, which checks its signature, into
build/hiredis; the system's own list of sources is left alone. Then the preset `hiredis` builds the
adapter and its tests against it, and both run, TLS included.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "hiredis"
PREFIX = HOME / "prefix"  # as CMakePresets.json says
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
TESTS = ("redis_adapter_test", "redis_test")


def run(*words, cwd=ROOT, **more):
    print("$", *words, flush=True)
    return subprocess.run([str(word) for word in words], cwd=cwd, check=True, **more)


def archive():
    """Where this system has its Debian packages from."""
    lines = run("apt-get", "indextargets", "--format", "$(ORIGIN)|$(COMPONENT)|$(REPO_URI)",
                "Created-By: Packages", capture_output=True, text=True).stdout.splitlines()
    found = [uri for origin, component, uri in (line.split("|") for line in lines)
             if (origin, component) == ("Debian", "main") and "security" not in uri]
    if not found:
        sys.exit("apt knows no Debian archive; run apt-get update first")
    return found[0]


def fetch():
    """The unpacked source."""
    found = [path for path in HOME.glob("hiredis-*") if path.is_dir()]
    if found:
        return found[0]
    for folder in ("lists/partial", "cache/archives/partial"):
        (HOME / folder).mkdir(parents=True, exist_ok=True)
    (HOME / "sources.list").write_text(f"deb-src [signed-by={KEYS}] {archive()} trixie main\n")
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={HOME}/sources.list",
           "-o", "Dir::Etc::sourceparts=/dev/null", "-o", f"Dir::State::lists={HOME}/lists",
           "-o", f"Dir::Cache={HOME}/cache", "-o", "APT::Get::List-Cleanup=0"]
    try:
        run(*apt, "update")
        run(*apt, "source", "hiredis", cwd=HOME)
    except subprocess.CalledProcessError:
        sys.exit("the source of Debian 13's hiredis cannot be fetched: is its archive in reach?")
    source, = (path for path in HOME.glob("hiredis-*") if path.is_dir())
    return source


def build(source):
    """The library alone, without a shared one that a linker would prefer."""
    run("make", "-s", "static", cwd=source)
    run("make", "-s", "install", f"PREFIX={PREFIX}", cwd=source)
    for shared in (PREFIX / "lib").glob("libhiredis.so*"):
        shared.unlink()


def main():
    build(fetch())
    run("cmake", "--preset", "hiredis")
    run("cmake", "--build", "--preset", "hiredis", "--target", *TESTS)
    bin_folder = ROOT / "build" / "against-hiredis" / "bin"
    for test in TESTS:
        linked = run("ldd", bin_folder / test, capture_output=True, text=True).stdout
        if "libhiredis" in linked:
            sys.exit(f"{test} was linked with the system's hiredis")
    version = run("pkg-config", "--modversion", PREFIX / "lib/pkgconfig/hiredis.pc",
                  capture_output=True, text=True).stdout.strip()
    if int(version.split(".")[0]) < 1:
        sys.exit(f"hiredis {version} is none of 1.x")
    run(bin_folder / TESTS[0])
    run("stack/with-stack", "--shards", 0, bin_folder / TESTS[1])
    print(f"the Redis adapter passes its tests on hiredis {version}")


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
