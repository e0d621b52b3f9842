#!/usr/bin/python3
"""Runs the fuzz targets one after the other, and says what they found: `make fuzz`.

A target starts from its kept corpus (tests/fuzz/corpus) and from what earlier runs here reached
(build/fuzz/found). With --keep, the kept corpus becomes the least of all these inputs that reach
the same code; with --seconds 0 that is all it does. Input that breaks a target is left in
build/fuzz/broken, and named.

A corpus is one text file: an input a line, in which a backslash begins an escape (\\\\, \\n, \\xNN)."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/fuzz"
BUILD = ROOT / "build/fuzz"

MOST_KEPT_BYTES = 60_000  # of one target; corpora_test.cpp holds the bounds of all
MOST_INPUT_BYTES = 4096
ESCAPES = {ord("\\"): "\\\\", ord("\n"): "\\n"}
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", f"-max_len={MOST_INPUT_BYTES}"]
ENVIRONMENT = dict(os.environ, ASAN_SYMBOLIZER_PATH=shutil.which("llvm-symbolizer-14") or "",
                   UBSAN_OPTIONS="print_stacktrace=1")


def targets():
    return sorted(path.name.removeprefix("fuzz_") for path in (BUILD / "bin").glob("fuzz_*"))


def program(target):
    return str(BUILD / "bin" / f"fuzz_{target}")


def corpus(target):
    return HERE / "corpus" / f"{target}.txt"


def escaped(data):
    """One line of printable ASCII. corpora_test.cpp reads it."""
    return "".join(ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}")
                   for byte in data)


def unescaped(line):
    return re.sub(rb"\\(x[0-9a-f]{2}|.)",
                  lambda found: bytes([int(found[1][1:], 16)]) if found[1][:1] == b"x"
                  else {b"n": b"\n", b"\\": b"\\"}[found[1]], line.encode("ascii"))


def unpacked(target):
    """A folder with a file for each kept input, as libFuzzer reads them."""
    folder = BUILD / "kept" / target
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if corpus(target).exists():
        for number, line in enumerate(corpus(target).read_text(encoding="ascii").splitlines()):
            (folder / f"{number:04}").write_bytes(unescaped(line))
    return folder


def found(target):
    return BUILD / "found" / target


def number(pattern, text, otherwise=0):
    last = re.findall(pattern, text)
    return int(last[-1]) if last else otherwise


def fuzz(target, seconds):
    """One row of the report; `ok` is False when something was found."""
    broken = BUILD / "broken" / target
    for folder in (found(target), broken):
        folder.mkdir(parents=True, exist_ok=True)
    dictionary = HERE / "dict" / f"{target}.dict"
    command = [program(target), str(found(target)), str(unpacked(target)), *LIMITS,
               f"-max_total_time={seconds}", "-print_final_stats=1", f"-artifact_prefix={broken}/"]
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    begin = time.monotonic()
    with open(BUILD / f"{target}.log", "w", encoding="utf-8") as log:
        code = subprocess.call(command, stdout=log, stderr=subprocess.STDOUT, env=ENVIRONMENT)
    text = (BUILD / f"{target}.log").read_text(encoding="utf-8", errors="replace")
    return {"target": target, "ok": code == 0, "seconds": round(time.monotonic() - begin),
            "runs": number(r"stat::number_of_executed_units:\s+(\d+)", text,
                           number(r"^#(\d+)\s", text)),
            "edges": number(r"cov: (\d+)", text), "inputs": len(list(found(target).iterdir())),
            "slowest": number(r"stat::slowest_unit_time_sec:\s+(\d+)", text),
            "rss": number(r"stat::peak_rss_mb:\s+(\d+)", text)}


def keep(target):
    """Replaces the kept corpus; the shortest inputs come first, so that they are the ones kept."""
    fresh = BUILD / "fresh" / target
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    found(target).mkdir(parents=True, exist_ok=True)
    subprocess.run([program(target), "-merge=1", "-use_counters=0", *LIMITS, str(fresh),
                    str(unpacked(target)), str(found(target))], check=True, env=ENVIRONMENT,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    inputs = sorted(fresh.iterdir(), key=lambda path: path.stat().st_size)
    while inputs and sum(path.stat().st_size for path in inputs) > MOST_KEPT_BYTES:
        inputs.pop()
    lines = sorted((escaped(path.read_bytes()) for path in inputs), key=lambda line: (len(line), line))
    corpus(target).write_text("".join(line + "\n" for line in lines), encoding="ascii")


def table(rows):
    lines = ["| target | seconds | executions | code edges reached | kept inputs | kept bytes | most memory | found |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        inputs = corpus(row["target"]).read_text(encoding="ascii").splitlines()
        lines.append(f"| `{row['target']}` | {row['seconds']} | {row['runs']:,} | {row['edges']:,} | "
                     f"{len(inputs)} | {sum(len(unescaped(line)) for line in inputs):,} | {row['rss']} MB | "
                     f"{'nothing' if row['ok'] else '**see the log**'} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="of each target")
    parser.add_argument("--only", default="", help="targets, by commas")
    parser.add_argument("--keep", action="store_true", help="replace the kept corpora")
    arguments = parser.parse_args()
    chosen = [name for name in arguments.only.split(",") if name] or targets()
    if unknown := sorted(set(chosen) - set(targets())):
        parser.error(f"no such target: {', '.join(unknown)}; there are {', '.join(targets())}")
    rows = []
    for target in chosen:
        if arguments.seconds == 0 and arguments.keep:
            keep(target)
            continue
        rows.append(fuzz(target, arguments.seconds))
        print("{target}: {runs:,} executions in {seconds} s, {edges} edges".format(**rows[-1]), flush=True)
        if not rows[-1]["ok"]:
            print(f"  FAILED: {BUILD / (target + '.log')}; the input: {BUILD / 'broken' / target}", flush=True)
        elif arguments.keep:
            keep(target)
    print(table(rows))
    return 1 if any(not row["ok"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
