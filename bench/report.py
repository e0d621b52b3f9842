"""The rows as JSON for programs and as a table for people."""

import json
import os
import time

REPORT_NAME = "report.json"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def read(folder):
    """The rows of the folder's report; none where there is no report."""
    path = folder / REPORT_NAME
    if not path.exists():
        return []
    try:
        rows = json.loads(path.read_text())
        if not isinstance(rows, list) or not all(isinstance(row, dict) and "name" in row for row in rows):
            raise ValueError("it is no list of rows")
    except ValueError as bad:
        raise SystemExit(f"{path} is no report ({bad}): delete it, or name another folder by --out") from bad
    return rows


def merged(before, rows):
    """`before` with `rows` in the place of what was measured again: the rows of their names, and all
    others of a measurement (`of`) that is among theirs, since these go together."""
    names, measured = {row["name"] for row in rows}, {row["of"] for row in rows}
    return [row for row in before if row["name"] not in names and row.get("of") not in measured] + rows


def write(rows, folder):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / REPORT_NAME
    beside = path.with_suffix(".new")  # whoever ends the run meanwhile leaves a whole report
    beside.write_text(json.dumps(rows, indent=1) + "\n")
    return beside.rename(path)


def table(rows):
    """Lines. The ratio is the median of the rounds' ratios, with their spread; where there was one
    round it stands alone."""
    cells = [("", "value", "", "beside", "", "ratio", "least..most")]
    cells += [(row["name"], number(row["value"]), row["unit"], number(row["beside_value"]),
               row["beside"], ratio(row), spread(row)) for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    return ["  ".join(cell.rjust(width) if column in (1, 3, 5) else cell.ljust(width)
                      for column, (cell, width) in enumerate(zip(line, widths))).rstrip()
            for line in cells]


def sentence(row):
    """A row as it is measured, in a line."""
    return (f"{row['name']}: {number(row['value'])} {row['unit']} beside "
            f"{number(row['beside_value'])} ({row['beside']}): {ratio(row)}"
            + (f" ({spread(row)})" if spread(row) else ""))


def details(row):
    """The other figures of a row; "" for one that has none."""
    if "said" in row:
        return row["said"]
    if "statement" in row:
        return f"{row['beside']}: {row['statement']}; {row['durability']}"
    if "mariadb_cpu_ms" in row:
        return f"MariaDB CPU per rebuild: {row['mariadb_cpu_ms']:.2f} ms"
    if "events_per_second" in row:
        return (f"{number(row['events_per_second'])} events/s"
                + processes("; CPU us per event", row.get("cpu_us_per_event"))
                + processes("; in the burst", row.get("burst_cpu_us_per_event")))
    if "rss_mb" in row:
        return ("RSS at the start, in the middle, at the end: "
                + ", ".join(f"{held:.0f}" for held in row["rss_mb"])
                + f" MB, {row['rss_most_mb']:.0f} at most")
    if "steady_rounds" in row:
        return (f"hints/s by fifths of the drain: {', '.join(map(number, row['fifths']))}; "
                f"of the rounds around it: {', '.join(map(number, row['steady_rounds']))}"
                + processes("; CPU us per hint", row["cpu_us_per_hint"])
                + processes("; of the rounds", row["beside_cpu_us_per_hint"]))
    if "still_of" in row:
        return "; ".join(f"{name}: {row['longest_of'][name]:.2f} s, a range stood still for "
                         f"{still:.2f} s of each restart" for name, still in row["still_of"].items())
    if "beside_cpu_us_per_delivery" in row:
        ours, other = map(number, row["timelines_per_batch_of"])
        return (f"{ours} timelines in a batch beside {other}"
                + processes("; CPU us per delivery", row["cpu_us_per_delivery"])
                + processes("; beside", row["beside_cpu_us_per_delivery"]))
    if "beside_client_cpu_us" in row:
        return f"{row['beside_client_cpu_us']:.2g} us more of the client for a plain ZADD"
    if "listed_of" in row:
        return "lists known: {:.2f} of pages beside {:.2f}".format(*row["listed_of"])
    if "lists_mb" in row:
        return f"{number(row['lists_mb'])} MB of lists, {row['live_readers']:,.0f} live readers"
    if "posts_per_zadd" not in row:
        return ""
    cpu = row["cpu_us_per_delivery"]
    return (f"{row['posts_per_zadd']:.2f} posts met in one ZADD, "
            f"{number(row['timelines_per_batch'])} timelines in a batch, "
            f"{number(row['probes_per_second'])} followers/s, {row['listed']:.2f} of pages from lists; CPU us per delivery: "
            + ", ".join(f"{name} {used:.2g}" for name, used in cpu.items())
            + f"; Redis for a plain ZADD {row['beside_redis_cpu_us']:.2g}")


def processes(what, used):
    """CPU by process, in words; "" when there is none."""
    if not used:
        return ""
    return f"{what}: " + ", ".join(f"{name} {number(spent)}" for name, spent in used.items())


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio(row):
    return f"{row.get('ratio_median', row['ratio']):.2f}"


def spread(row):
    if "ratio_min" not in row:
        return ""
    return f"{row['ratio_min']:.2f}..{row['ratio_max']:.2f} of {row['rounds']}"


def machine(memory_backed):
    """The machine it ran on, in a line; part of every row, since figures do not travel without."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((line.partition(":")[2].strip() for line in lines
                      if line.startswith("model name")), "unknown processor")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    where = "tmpfs" if memory_backed else "disk"
    return (f"{os.cpu_count()} x {model}, {memory:.0f} GB, Linux {os.uname().release}; MariaDB and "
            f"Kafka on {where}, innodb_flush_log_at_trx_commit=2; load {os.getloadavg()[0]:.1f} "
            f"before; {time.strftime('%Y-%m-%d')}")
