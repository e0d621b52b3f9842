"""The chapters of the demo, in their order. Each waits until the fleet has nothing left to do, so
that the next begins from a known state and its figures are its own."""

import math
import time

from demo import report
from demo.check import check_timelines, complaint_of_lost
from demo.readings import ReadingChapter
from demo.relations import RelationChapter
from demo.stage import FEED_PARTITIONS, LIMIT, RANGES, Stage
from demo.truth import Truth
from demo.workload import count_distinct, split
from stack.programs.timelines import read_floors, read_timelines, read_ttls

SHARES = (0.5, 0.2, 0.3)  # of the events: burst, crash, paced
PACED_SECONDS = 20
LIVE_AT_REST = 0.8  # of the live timelines; the others are rebuilt while posts flow
KILL_AFTER = 0.3  # of the crash chapter's events
# An unfollow may leave a timeline too short, which ends it.
KEPT_LIVE, KEPT_LIVE_AT_END = 0.98, 0.95  # before the relations and after
# A timeline that is rebuilt without a post lives for five minutes (kEmptyTimelineTtl), whatever comes
# into it; a slow machine takes longer.
EMPTY_TTL_S = 300
RECHECKED = 1_000  # timelines the demo checks by itself, past all of Fanline's code


class Story:
    def __init__(self, stack, ports, graph, options, progress):
        self._options, self._progress, self._ports = options, progress, ports
        self._stage = Stage(stack, ports, graph, options.seed)

    def install(self):
        stage = self._stage
        with self._progress.step("install") as step:
            stage.feedctl.run("init", "--ranges", RANGES)
            stage.feedctl.run("topics", "create", "--feed-partitions", FEED_PARTITIONS)
            step.note(f"{len(stage.stack.mysql)} shards, {RANGES} ranges of readers")

    def start_fleet(self):
        stage = self._stage
        with self._progress.step("start the fleet") as step:
            stage.fleet.start().wait_serving()
            step.note("2 dispatchers, 2 pushers and 2 mirrors, each a process")

    def import_graph(self):
        stage = self._stage
        self._begin = time.monotonic()
        with self._progress.step("import the graph") as step:
            stage.feedctl.run("import", stage.write_edges(), timeout=LIMIT)
            step.note(f"{stage.edges:,} edges into {len(stage.stack.mysql)} shards: "
                      f"{stage.everybodys} followed by everybody, {stage.tenths} by every tenth")

    def publish_history(self):
        stage = self._stage
        posts = stage.workload.history(stage.plan.history, now_ms())
        with self._progress.step("publish the past") as step:
            stage.send(posts)
            stage.wait_idle(step, len(posts))
            step.note(f"{len(posts):,} posts, nobody reading yet")
        stage.events += len(posts)

    def make_readers_live(self):
        stage = self._stage
        self._live = stage.workload.sample(stage.graph.users, stage.plan.live)
        at_rest = math.ceil(len(self._live) * LIVE_AT_REST)
        readers, self._late = self._live[:at_rest], self._live[at_rest:]
        with self._progress.step("rebuild timelines") as step:
            stage.wait_rebuilt(stage.start_rebuild(readers, clients=16), step, readers)
            step.note(f"{len(readers):,} readers come back, each timeline from the truth")
        self._floors, self._lasting = read_floors(stage.stack.redis), self._read_lasting()

    def burst(self):
        """Sends as fast as it goes: the rate by which everything after is measured."""
        stage, plan = self._stage, self._stage.plan
        special = ((stage.everybodys, plan.by_everybodys), (stage.tenths, plan.by_tenths))
        drawn = stage.workload.events(plan.events, now_ms(), special)
        part, self._crash_part, self._paced_part = split(drawn, SHARES)
        with self._progress.step("publish at full speed") as step:
            cpu, before, begin = stage.cpu(), stage.fleet.counters(), time.monotonic()
            stage.send([event for event, _ in part])
            seconds = stage.wait_idle(step, len(part)) - begin
            delivered = report.deliveries(stage.fleet.counters() - before)
            self._events_per_s, self._deliveries_per_s = len(part) / seconds, delivered / seconds
            step.note(f"{count_distinct(part):,} events, {delivered:,} deliveries: "
                      f"{self._events_per_s:,.0f} and {self._deliveries_per_s:,.0f} a second")
        stage.note_part("burst", part, seconds, cpu)

    def crash(self):
        """All at once: posts flow, readers come back, edges go, a pusher dies and returns."""
        stage, part = self._stage, self._crash_part
        victim = stage.fleet.pushers[0]
        self._unfollowed = stage.workload.edges(self._live, stage.following(self._live),
                                                stage.plan.unfollows)
        with self._progress.step("everything at once") as step:
            before, begin = stage.fleet.counters(), time.monotonic()
            rebuild = stage.start_rebuild(self._late, clients=1) if self._late else None
            stage.send([event for event, _ in part])
            stage.wait_dispatched(before, KILL_AFTER * len(part))
            self._unseen_s = victim.kill()
            victim.start()
            stage.unfollow(self._unfollowed)
            if rebuild:
                rebuild.result(LIMIT)
            seconds = stage.wait_idle(step, len(part)) - begin
            step.note(f"{count_distinct(part):,} events; meanwhile a pusher killed, "
                      f"{len(self._unfollowed):,} unfollows, {len(self._late):,} rebuilds")
        stage.note_part("crash", part, seconds)
        self._floors = read_floors(stage.stack.redis) | self._floors
        self._lasting |= self._read_lasting()

    def paced(self):
        """Latency, at half of what the burst showed to be possible."""
        stage, part, rate = self._stage, self._paced_part, self._events_per_s / 2
        short = math.ceil(rate * PACED_SECONDS) - len(part)
        if short > 0:
            part = part + stage.workload.events(short, now_ms())
        with self._progress.step("publish at half of that") as step:
            cpu, before, begin = stage.cpu(), stage.fleet.counters(), time.monotonic()
            stage.send_paced([event for event, _ in part], rate, step)
            seconds = stage.wait_idle(step, len(part)) - begin
            self._latency = (stage.fleet.counters() - before).histogram(
                "fanline_publish_to_last_delivery_seconds")
            stage.note_part("paced", part, seconds, cpu)
            step.note(f"{count_distinct(part):,} events, {rate:,.0f} a second; the last delivery "
                      "after {p50} ms (p50), {p99} ms (p99); ".format(**self._percentiles())
                      + "{half} ms of processor time an event, {burst} in the burst".format(
                          **self._cpu_per_event_ms()))

    def first_audit(self):
        """Ends what `seconds` measures. What it finds wrong is kept for the end."""
        with self._progress.step("audit every timeline") as step:
            audit, self._early = self._check(step)
            if audit["missing"] or audit["extra"]:
                self._early.append(f"the first audit found {audit['missing']:,} items missing and "
                                   f"{audit['extra']:,} too many")
            live = read_floors(self._stage.stack.redis).keys()
            if lost := complaint_of_lost(self._lasting, live, KEPT_LIVE, "at the first audit"):
                self._early.append(lost)
        self._seconds = round(time.monotonic() - self._begin, 1)

    def relations(self):
        chapter = RelationChapter(self._stage, self._ports, self._progress, self._live)
        self._relation_figures, self._relation_complaints = chapter.tell()
        self._relations_how = chapter.how()

    def readings(self):
        chapter = ReadingChapter(self._stage, self._ports, self._progress, self._live)
        self._reading_figures, self._reading_complaints = chapter.tell()

    def audit(self):
        """The figures of it all, and what is wrong with them."""
        with self._progress.step("audit every timeline") as step:
            audit, wrong = self._check(step)
        floors = read_floors(self._stage.stack.redis)
        figures = self._figures(audit, floors)
        if lost := complaint_of_lost(self._lasting, floors.keys(), KEPT_LIVE_AT_END, "at the end"):
            wrong.append(lost)
        self._stage.close()
        return figures, [*self._early, *self._relation_complaints, *self._reading_complaints, *wrong,
                         *self._complaints(figures)]

    def _read_lasting(self):
        """Readers whose timeline does not end by itself while the demo runs."""
        ttls = read_ttls(self._stage.stack.redis)
        return {reader for reader, seconds in ttls.items() if seconds > EMPTY_TTL_S}

    def _check(self, step):
        """feedctl's audit, and what it, the truth or the timelines hold that is wrong."""
        stage = self._stage
        wrong = [str(difference) for difference in Truth(stage.stack).differences(stage.ledger)]
        step.at(0.3)
        audit = stage.feedctl.json("audit", "--json", timeout=LIMIT, codes=(0, 1))
        step.at(0.8)
        sample = set(stage.workload.sample(self._live, RECHECKED))
        timelines = read_timelines(stage.stack.redis, sample)
        step.note(f"{audit['timelines']:,} against the truth, and {len(timelines):,} of them "
                  "and the truth against the demo's own ledger")
        if not audit["good"]:
            wrong.append(f"feedctl audit is not content: {audit}")
        if differing := check_timelines(timelines, stage.ledger):
            reader, verdict = min(differing.items())
            wrong.append(f"{len(differing)} timelines differ from the demo's ledger, such as that "
                         f"of {reader}: missing {verdict.missing[:3]}, extra {verdict.extra[:3]}")
        return audit, wrong

    def _percentiles(self):
        return {name: report.milliseconds(self._latency.quantile(share))
                for name, share in (("p50", 0.5), ("p99", 0.99))}

    def _cpu_per_event_ms(self):
        return {"half": self._stage.cpu_per_event_ms("paced"),
                "burst": self._stage.cpu_per_event_ms("burst")}

    def _figures(self, audit, floors):
        stage = self._stage
        counters = stage.fleet.counters()
        trimmed = sum(floor > self._floors.get(reader, floor) for reader, floor in floors.items())
        return {
            "events": stage.events,
            **report.work_figures(counters),
            "deliveries_per_s": round(self._deliveries_per_s),
            "publish_to_last_delivery_ms": self._percentiles(),
            "cpu_per_event_ms": self._cpu_per_event_ms(),
            "live_timelines": audit["timelines"],
            "trimmed_timelines": trimmed,
            "missing": audit["missing"],
            "extra": audit["extra"],
            "seconds": self._seconds,
            **self._relation_figures,
            **self._reading_figures,
            "how": {
                "seed": self._options.seed,
                "users": len(stage.graph.users),
                "edges": stage.edges,
                "ranges": RANGES,
                "parts": stage.parts,
                "relations": self._relations_how,
                "paced_events_per_s": round(self._events_per_s / 2),
                "posts_measured": int(self._latency.total),
                "rebuilt_while_posts_flowed": len(self._late),
                "unfollowed": len(self._unfollowed),
                "hints_replayed": int(counters.total("fanline_hints_replayed_total")),
                "uncounted_before_the_kill_ms": round(self._unseen_s * 1000, 1),
            },
        }

    def _complaints(self, figures):
        plan = self._stage.plan
        yield from report.complaints(figures, plan.least_trimmed)
        counters = self._stage.fleet.counters()
        for name in ("fanline_events_rejected_total", "fanline_hints_quarantined_total",
                     "fanline_events_lost_total"):
            if counters.total(name):
                yield f"{name} is {counters.total(name):,.0f} and should be 0"


def now_ms():
    return time.time_ns() // 1_000_000
