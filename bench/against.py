#!/usr/bin/python3
"""Measures this tree beside another revision of it: make bench-against REV=... [ROWS=name,...].

Builds the revision in a worktree of its own (build/against/<commit>), starts a stack for each of the
two, and takes their rows in turn, round by round. A ratio above 1 says that this tree is better: more
of what a row counts per second, or fewer bytes, megabytes or microseconds. Prints the median and the
spread of the rounds' ratios and writes build/bench/against-<commit>.json. Leave the machine alone
meanwhile.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import report  # noqa: E402
from bench.measure import interleaved  # noqa: E402

# Units of which less is better.
COSTS = ("bytes", "MB", "us/", "CPU", "ms to", "ms, ")
LEAST_ROUNDS = 15
# Minutes a round, or nothing new of ours: only when named.
SLOW = ("backlog_drain", "celebrity_live5", "edge_latency", "edge_modes", "fairness_p99_ratio", "full_scan",
        "full_scan_cost", "handover_gap", "log_scan", "peer_library_live100", "peer_library_live5", "peer_live100",
        "peer_live5", "recovery", "rss_pusher_full_mb", "sweep_p99_ratio", "takeover_live100k")


class Side:
    """A checkout that measures its own rows, in a process of its own."""

    def __init__(self, root, quick):
        self.root = root
        command = ["/usr/bin/python3", ROOT / "bench" / "against_side.py", root]
        log = ROOT / "build" / "bench" / f"against-{root.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "w", encoding="utf-8") as said:
            self._process = subprocess.Popen(
                command + ["--quick"] * quick, cwd=root, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=said, text=True,
                env={name: value for name, value in os.environ.items() if name != "FANLINE_BIN"})
        self._log = log

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.stdin.close()
        self._process.wait()

    def ask(self, what):
        with_log = f"the bench of {self.root} ended; what it said: {self._log}"
        try:
            print(what, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise SystemExit(with_log) from None
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(with_log)
        return json.loads(answer)


def main():
    options = parse()
    begin = time.monotonic()

    def say(line):
        print(f"[{time.monotonic() - begin:5.0f} s] {line}", flush=True)

    commit = git("rev-parse", "--verify", f"{options.rev}^{{commit}}")
    theirs = built(commit, say)
    with Side(ROOT, options.quick) as ours, Side(theirs, options.quick) as other:
        names, known = ours.ask("names"), other.ask("names")
        wanted = chosen(names, known, options.rows)
        for name in names:
            if name not in known and (not options.rows or name in options.rows):
                say(f"{name}: {commit[:10]} has no such row")
        found = {}
        for name in wanted:
            pairs = interleaved(options.rounds, lambda _: ours.ask(name), lambda _: other.ask(name))
            for row in compared(pairs):
                say(sentence(row))
                found[row["name"]] = row
    path = ROOT / "build" / "bench" / f"against-{commit[:10]}.json"
    path.write_text(json.dumps({"rev": commit, "machine": report.machine(True),
                                "rows": list(found.values())}, indent=1) + "\n")
    say(f"{path}; a ratio above 1: this tree is better than {commit[:10]}")


def compared(pairs):
    """Sums up each row's ratios of the rounds. Rows that only one side yields are left out."""
    by_name = {}
    for ours, theirs in pairs:
        others = {row["name"]: row for row in with_costs(theirs)}
        for row in with_costs(ours):
            if row["name"] in others:
                by_name.setdefault(row["name"], []).append((row, others[row["name"]]))
    for name, rounds in by_name.items():
        ratios = [ratio(mine, other) for mine, other in rounds]
        yield {"name": name, "unit": rounds[0][0]["unit"],
               "value": statistics.median(mine["value"] for mine, _ in rounds),
               "other": statistics.median(other["value"] for _, other in rounds),
               "ratio_median": statistics.median(ratios), "ratio_min": min(ratios),
               "ratio_max": max(ratios), "rounds": len(ratios)}


def with_costs(rows):
    """The rows. Of those of deliveries, the processor time of each delivery as rows: of Redis, and of all
    processes. Of those beside a burst, that of an event of the burst."""
    for row in rows:
        yield row
        cpu = row.get("cpu_us_per_delivery")
        if cpu:
            for whose, spent in (("redis", cpu["redis"]), ("all", sum(cpu.values()))):
                yield {"name": f"{row['name']}_cpu_{whose}", "value": spent,
                       "unit": "CPU us/delivery"}
        if "burst_cpu_us_per_event" in row and row["name"].endswith("_half"):
            yield {"name": row["name"].replace("_half", "_burst"), "value": sum(row["burst_cpu_us_per_event"].values()),
                   "unit": "CPU us/event"}


def ratio(mine, other):
    if any(cost in mine["unit"] for cost in COSTS):
        return other["value"] / mine["value"]
    return mine["value"] / other["value"]


def sentence(row):
    return (f"{row['name']}: {row['ratio_median']:.2f} ({report.spread(row)}); "
            f"{report.number(row['value'])} beside {report.number(row['other'])} {row['unit']}")


def chosen(names, known, wanted):
    unknown = [name for name in wanted or () if name not in names]
    if unknown:
        raise SystemExit(f"there is no row {unknown[0]}; there are {', '.join(names)}")
    return [name for name in names
            if name in known and (name in wanted if wanted else name not in SLOW)]


def built(commit, say):
    """A worktree of that commit with its programs built."""
    folder = ROOT / "build" / "against" / commit[:10]
    if not (folder / ".git").exists():
        git("worktree", "prune")
        git("worktree", "add", "--detach", folder, commit)
    say(f"building {commit[:10]} in {folder}")
    subprocess.run(["stack/setup"], cwd=folder, check=True)
    subprocess.run(["cmake", "--preset", "release"], cwd=folder, check=True, capture_output=True)
    targets = ["programs", *bench_programs(folder)]
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", *targets], cwd=folder, check=True,
                   capture_output=True)
    return folder


def bench_programs(folder):
    """The names of that revision's own: its tests need not be built."""
    return re.findall(r"^add_executable\((fanline-bench-\S+)",
                      (folder / "bench" / "CMakeLists.txt").read_text(), re.M)


def git(*words):
    run = subprocess.run(["git", *map(str, words)], cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"git {' '.join(map(str, words))}: {run.stderr.strip()}")
    return run.stdout.strip()


def rounds(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError("at least one round")
    return int(text)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rev", help="a commit, tag or branch")
    parser.add_argument("--rows", type=lambda text: text.split(","), metavar="NAME,...",
                        help="only these")
    parser.add_argument("--rounds", type=rounds, default=LEAST_ROUNDS, help="default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="tiny: measures nothing")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
