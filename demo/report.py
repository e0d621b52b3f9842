"""The figures of the demo: what each means, the table, the file, and what must hold."""

import json
import math


# Every figure and what it counts, read behind its value.
FIGURES = {
    "events": "distinct events published",
    "sub_tasks": "hints written to fanout-tasks, one for each event and range with a follower",
    "followers": "follower rows read for them; posts that meet in one read share it",
    "deliveries": "posts put into live timelines",
    "skipped_not_live": "times a follower was passed over whose timeline was not live",
    "deliveries_per_s": "deliveries a second in the burst, first event to last delivery",
    "publish_to_last_delivery_ms": "ms, half and 99 of 100 posts, at half the burst's rate",
    "cpu_per_event_ms": "ms of processor time an event took there, and in the burst",
    "live_timelines": "timelines live at the end, every one of them audited",
    "trimmed_timelines": "of them were cut back to the window as posts came in",
    "missing": "items that should be in a live timeline and are not",
    "extra": "items that are in a live timeline and should not be",
    "seconds": "s from the import to the end of the first audit, before the relations",
    "edges_forward": "rows of who follows whom (following), tombstones too, after the relations",
    "edges_reverse": "rows of who is followed by whom (follower)",
    "differences_after": "rows of one direction that the other does not have just so",
    "counter_drift_after": "counters of followers or followed that are not the number of rows",
    "repairs": "edges repaired, by what found them: no second message came (pair), a second look (log), a scan of all rows",
    "escapes": "of these a net had missed: the same three",
    "repair_p99_s": "s from the message of a hidden change or broken row to its repair, 99 of 100",
    "relations_seconds": "s of the relations chapter, to the comparison of both directions",
    "pages_per_s": "pages of 50 posts a second over HTTP, read by four clients at once",
    "page_p99_ms": "ms until such a page is there, 99 of 100",
    "pulled_pages": "pages gathered from the shards, since no timeline was live",
    "rebuilds": "timelines made live behind such a page",
}


def table(report):
    """The report for people, a line per figure."""
    width = max(map(len, FIGURES))
    for name, meaning in FIGURES.items():
        yield f"  {name:<{width}}  {_shown(report[name]):>13}  {meaning}"


def _shown(value):
    if isinstance(value, dict):
        return " / ".join(map(_shown, value.values()))
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
    return "?" if value is None else f"{value:,}"


def milliseconds(seconds):
    """For the report: None when nothing was measured or it was beyond the last bucket."""
    if seconds is None or math.isinf(seconds):
        return None
    return round(seconds * 1000, 1)


def deliveries(counters, *results):
    """Posts put into live timelines; or the sum of other results of trying to."""
    return int(sum(counters.total("fanline_deliveries_total", result=result)
                   for result in results or ["added"]))


def work_figures(counters):
    """The figures that are sums over all daemons in all their lives."""
    return {
        "sub_tasks": int(counters.total("fanline_hints_appended_total")),
        "followers": int(counters.total("fanline_followers_read_total")),
        "deliveries": deliveries(counters),
        "skipped_not_live": int(counters.total("fanline_followers_not_live_total")) +
                            deliveries(counters, "not_live"),
    }


def complaints(report, least_trimmed):
    """What in these figures is wrong, a line each; empty is good."""
    percentiles = report["publish_to_last_delivery_ms"]
    if report["missing"] or report["extra"]:
        yield (f"the audit found {report['missing']:,} items missing and "
               f"{report['extra']:,} too many")
    if report["trimmed_timelines"] < least_trimmed:
        yield (f"only {report['trimmed_timelines']:,} timelines were trimmed, fewer than the "
               f"{least_trimmed:,} that should overflow")
    if None in percentiles.values():
        yield "the paced part's latency could not be measured"
    elif report["deliveries"] == 0:
        yield "nothing was delivered"


def write(report, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n")
