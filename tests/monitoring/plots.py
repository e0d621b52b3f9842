#!/usr/bin/python3
"""Draws docs/plots/*.png: every panel of every dashboard, as a Prometheus answered its queries while a
fleet was under load and things broke (make plots; python3-matplotlib draws)."""

import io
import json
import sys
import time
from pathlib import Path

import matplotlib
from PIL import Image

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from prometheus.grafana.build import DASHBOARDS  # noqa: E402
from tests.monitoring.dashboards import asked, panels  # noqa: E402
from tests.monitoring.watched import Watched  # noqa: E402

PLOTS = ROOT / "docs" / "plots"
COLUMNS, LINES, COLOURS = 3, 6, 128  # of a page; of a legend, at most; of an image
UNITS = {"s": "s", "ops": "a second", "short": "", "percentunit": "share", "bytes": "bytes"}


class Run(Watched):
    """A run of two minutes; what broke, and when."""

    def go(self):
        self.marks = []
        self.begin_load()
        time.sleep(20)
        self.fault("shard 1 is gone", self.stack.mysql[1].kill, 12, self.stack.mysql[1].start)
        time.sleep(15)
        self.fault("Redis hangs", self.stack.redis.pause, 10, self.stack.redis.resume)
        time.sleep(15)
        self.fault("FLUSHALL", lambda: self.stack.redis.command("FLUSHALL"), 0, lambda: None)
        time.sleep(12)
        pusher = self.fleet.pushers[0]
        self.fault("a pusher is killed", pusher.kill, 3, pusher.start)
        time.sleep(20)
        self.load.end()
        self.ended = time.time()

    def fault(self, what, begin, seconds, end):
        self.marks.append((time.time(), what))
        begin()
        time.sleep(seconds)
        end()


def draw(run, path):
    dashboard = json.loads(path.read_text())
    shown = panels(dashboard)
    rows = -(-len(shown) // COLUMNS)
    figure, places = pyplot.subplots(rows, COLUMNS, figsize=(4.6 * COLUMNS, 2.3 * rows), squeeze=False)
    for place in places.flat[len(shown):]:
        place.axis("off")
    for place, panel in zip(places.flat, shown):
        for target in panel["targets"]:
            draw_query(run, place, target)
        for when, _ in run.marks:
            place.axvline(when - run.started, color="red", linewidth=0.6, linestyle=":")
        unit = UNITS[panel["fieldConfig"]["defaults"]["unit"]]
        place.set_title(panel["title"] + (f" ({unit})" if unit else ""), fontsize=8)
        place.tick_params(labelsize=6)
        place.set_xlim(0, run.ended - run.started)
        place.set_ylim(bottom=0)
        if place.get_legend_handles_labels()[1]:
            place.legend(*[few[:LINES] for few in place.get_legend_handles_labels()], fontsize=5, loc="upper left")
    broke = "; ".join(f"{when - run.started:.0f} s: {what}" for when, what in run.marks)
    figure.suptitle(f"{dashboard['title']} - seconds of a run. {broke}", fontsize=9)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.1 / rows))
    save(figure, PLOTS / f"{path.stem}.png")


def save(figure, path):
    """With few colours: a third of the bytes."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=65)
    pyplot.close(figure)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(COLOURS).save(path, optimize=True)


def draw_query(run, place, target):
    for labels, values in run.prometheus.query_range(asked(target["expr"]), run.started, run.ended, 1):
        legend = target["legendFormat"].replace("{{", "{").replace("}}", "}")
        name = legend.format_map({**dict.fromkeys(["job", "topic", "partition"], ""), **labels})
        place.plot([when - run.started for when, _ in values], [value for _, value in values],
                   linewidth=0.8, label=name)


def main():
    PLOTS.mkdir(exist_ok=True)
    try:
        Run.setUpClass()
        run = Run("go")
        run.go()
        for path in sorted(DASHBOARDS.glob("*.json")):
            draw(run, path)
            print(f"{PLOTS / path.stem}.png")
    finally:
        Run.doClassCleanups()


if __name__ == "__main__":
    main()
