#!/usr/bin/python3
"""Draws docs/plots/flame-*.svg: where dispatcher, pusher, MariaDB and Redis spend their processor time while
posts are delivered (make flames; perf samples). One graph for each load: a bar is a function, as wide as
its share of the samples, on top of the one that called it."""

import math
import re
import subprocess
import sys
import time
from collections import Counter
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import population  # noqa: E402
from bench.moderate_rows import run_at  # noqa: E402
from bench.rig import Rig  # noqa: E402
from bench.run import FULL  # noqa: E402

PLOTS = ROOT / "docs" / "plots"
_HERTZ = 499
_WIDTH, _LINE, _LETTER = 1200, 15, 6.6  # pixels
_LEAST = 0.002  # of all samples: thinner bars are left out
_SECONDS = 8  # of a load, about
_LONGEST = 60  # letters of a name that begins with a bracket


def loads(rig):
    """Name -> what keeps the fleet busy for some seconds."""
    blocks = rig.population.authors
    for name in ("live100", "live5"):
        yield name, lambda block=blocks[name]: run_at(rig, block, block.count)
    moderate = blocks["moderate"]
    rate = run_at(rig, moderate, moderate.count).rate / 10
    yield "tenth", lambda: run_at(rig, moderate, min(moderate.count, math.ceil(rate * _SECONDS)), rate)


def sampled(rig, work, data):
    """Stacks, outermost function first, of all samples while the work is done."""
    pids = [rig.dispatcher.process.pid, rig.pusher.process.pid, rig.stack.redis.pid,
            *(shard.pid for shard in rig.stack.mysql)]
    perf = subprocess.Popen(["perf", "record", "-q", "-F", str(_HERTZ), "--call-graph", "dwarf,16384", "-o", data,
                             "-p", ",".join(map(str, pids))])
    time.sleep(1)  # until it samples
    work()
    perf.terminate()
    perf.wait()
    text = subprocess.run(["perf", "script", "-i", data, "--no-inline", "-F", "comm,pid,ip,sym"], check=True,
                          capture_output=True, text=True, errors="replace").stdout
    names = {rig.dispatcher.process.pid: "dispatcher", rig.pusher.process.pid: "pusher",
             rig.stack.redis.pid: "redis"}
    return folded(text, lambda pid: names.get(pid, "mariadb"))


def folded(text, name_of):
    """Stack -> samples, of what `perf script -F comm,pid,ip,sym` printed; its process stands first."""
    stacks = Counter()
    for sample in text.split("\n\n"):
        head, *frames = sample.strip("\n").split("\n")
        if frames:
            stacks[name_of(int(head.split()[-1])), *map(_function, reversed(frames))] += 1
    return stacks


def _function(frame):
    """Without what it takes: templates and parameters make a name many lines long."""
    name = " ".join(frame.split()[1:]).replace("(anonymous namespace)::", "")
    return re.split(r"[(<]", name)[0] or name[:_LONGEST]


def drawn(stacks, title):
    """An SVG; each bar tells its name and share to who points at it."""
    total, bars = sum(stacks.values()), []

    def place(level, left, of):
        """Draws what stands on one bar: stacks that share their first `level` functions."""
        by_function = {}
        for stack, count in of.items():
            if len(stack) > level:
                by_function.setdefault(stack[level], {})[stack] = count
        for function, those in sorted(by_function.items()):
            share = sum(those.values()) / total
            if share >= _LEAST:
                bars.append((level, left, share, function))
                place(level + 1, left, those)
            left += share

    place(0, 0.0, stacks)
    height = (max(level for level, *_ in bars) + 3) * _LINE
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="monospace" '
             f'font-size="11">', f'<text x="4" y="12">{escape(title)}, {total:,} samples</text>']
    for level, left, share, function in bars:
        x, y, width = left * _WIDTH, height - (level + 1) * _LINE, share * _WIDTH
        shown = function[:int((width - 4) / _LETTER)] if width > 3 * _LETTER else ""
        hue = sum(map(ord, function)) % 50
        lines.append(f'<g><title>{escape(function)}: {share:.1%}</title><rect x="{x:.1f}" y="{y}" '
                     f'width="{width:.1f}" height="{_LINE - 1}" fill="hsl({hue},80%,65%)"/>'
                     f'<text x="{x + 2:.1f}" y="{y + 11}">{escape(shown)}</text></g>')
    return "\n".join([*lines, "</svg>", ""])


def main():
    begin = time.monotonic()
    with Rig(population.FULL, lambda line: print(f"[{time.monotonic() - begin:5.0f} s] {line}", flush=True)) as rig:
        rig.scene("compact")
        for name, work in loads(rig):
            work()  # lists of followers are known from here on
            stacks = sampled(rig, work, str(rig.stack.logs / "perf.data"))
            (PLOTS / f"flame-{name}.svg").write_text(drawn(stacks, name))
            own = Counter()
            for stack, count in stacks.items():
                own[stack[0], stack[-1]] += count
            for process in ("dispatcher", "pusher"):
                top = [(count, function) for (of, function), count in own.most_common() if of == process][:10]
                of_all = sum(count for (of, _), count in own.items() if of == process)
                rig.say(f"{name}, {process}: " + ", ".join(f"{function} {count / of_all:.1%}" for count, function in top))


if __name__ == "__main__":
    main()
