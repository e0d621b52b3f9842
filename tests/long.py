#!/usr/bin/python3
"""What is too long for `make test`: make test-long runs it, one after the other."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SCHEDULES = 20_000
WHOLE = ["env", "FANLINE_TEST_LONG=1", "ctest", "--preset", "release", "--output-on-failure", "-R"]  # with @long
REDIS = [*WHOLE, r"^e2e\.redis(_cluster)?_test$"]
SHARDS = [*WHOLE, r"^e2e\.(readiness|reconciler)_test$"]
LONG = ["ctest", "--preset", "release", "-C", "long", "--output-on-failure", "-R",
        r"^e2e\.(bench_whole|gaps|leaderless|ranges_page|redis_cluster_long|timeline_model)_test$"]
MONITORING = ["ctest", "--preset", "release", "-C", "long", "--output-on-failure", "-R",
              r"^monitoring\."]
CELEBRITY = ["env", "FANLINE_CELEBRITY=1000000", "ctest", "--preset", "release", "--output-on-failure",
             "-R", r"^e2e\.hand_over_test$"]
AWAY = ["env", "FANLINE_AWAY_SECONDS=30", "FANLINE_AWAY_RATE=300", "FANLINE_BIN=build/release/bin",
        sys.executable, "-m", "unittest", "-v", "tests.e2e.away_test"]
NEWEST = ["env", "FANLINE_NEWEST_READERS=400", "FANLINE_BIN=build/release/bin", sys.executable, "-m", "unittest", "-v",
          "tests.e2e.newest_test"]
STEPS = [
    (f"{SCHEDULES:,} schedules of the fleet",
     ["env", f"FANLINE_SIM_SCHEDULES={SCHEDULES}", "build/release/bin/fleet_sim"]),
    *[(f"a Redis that loses much, a Cluster that changes, round {number} of 3", REDIS)
      for number in (1, 2, 3)],
    ("shards that are away or hang: probes, the reconciler", SHARDS),
    ("chaos, the seeds 1 to 6", [sys.executable, "tests/chaos/run.py", "--seeds", "6"]),
    ("all of the bench, tiny; gaps of logs, a partition without a leader, another number of ranges, nodes that fail "
     "while a slot moves, 10,000 steps of a model", LONG),
    ("rules and dashboards on a real Prometheus, every alert mutated", MONITORING),
    ("threads under the sanitizer", ["make", "tsan"]),
    ("what has shards, on MySQL", ["make", "test-mysql"]),
    ("what has a Redis, on Valkey", ["make", "test-valkey"]),
    ("the Redis adapter on a hiredis of 1.x", [sys.executable, "tests/newer_hiredis.py"]),
    ("bench/capacity.py beside what is measured at another scale", [sys.executable, "tests/capacity.py"]),
    ("a celebrity of 1,000,000 followers is handed over", CELEBRITY),
    ("a master, a shard, all of Redis, the broker: away for half a minute each", AWAY),
    ("what is new, of 100,000 pairs of a post and a reader", NEWEST),
    ("mutants", [sys.executable, "tests/mutants/run.py"]),
]


def run(steps, call=subprocess.call):
    """All of them, also after one that failed; how many failed."""
    failed, begin = [], time.monotonic()
    for name, command in steps:
        print(f"==== {name}: {' '.join(command)}", flush=True)
        since = time.monotonic()
        code = call(command, cwd=ROOT)
        print(f"==== {name}: {'ok' if code == 0 else f'FAILED ({code})'} after "
              f"{time.monotonic() - since:.0f} s", flush=True)
        if code != 0:
            failed.append(name)
    print(f"test-long: {len(steps) - len(failed)} of {len(steps)} ok after "
          f"{(time.monotonic() - begin) / 60:.0f} minutes"
          + "".join(f"; FAILED: {name}" for name in failed), flush=True)
    return len(failed)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(1 if run(STEPS) else 0)
