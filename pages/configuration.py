"""The site's configuration.md, of what --help of the daemons says. The same option of several daemons is told once."""

from helm.options import options_of

DAEMONS = ("dispatcher", "pusher", "mirror", "reconciler", "api")

HEAD = """# Configuration

Every option of the five daemons, as their `--help` has it: `make site` makes this page of that. Those of
[`feedctl`](feedctl.md) stand at its commands, those of the chart in [its own list](../helm/fanline/README.md).

An option `--redis` is also the variable `FANLINE_REDIS`, and the line `redis = HOST:PORT` of the file that `--config FILE`
names. A flag wins over the environment, the environment over the file. `--check-config` prints each value and where it
comes from, and ends: 0, or 78 with every problem named. A switch is `--name`, or `--name=false`.

Sizes and bounds have defaults that were measured. What an installation says first: `kafka-brokers`, `redis`, `mysql-shards`,
`mysql-user`, a password file for each ([security.md](security.md)), and `admin-listen` and `listen` where others than this
machine ask. What must be the same everywhere stands in the shards, and no option says it ([`feedctl init`](feedctl.md#init)).

A DURATION is a number with its unit: `500ms`, `30s`, `10m`, `168h`.
"""


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def row(option, *more):
    value = f"`{option.placeholder}`".replace("|", "\\|") if option.placeholder else "switch"
    return f"| `--{option.name}` | {value} | {cell(option.meaning)} | {cell(option.rest) or 'required'} |" + "".join(
        f" {each} |" for each in more)


def table(rows, *more):
    head = ["option", "value", "meaning", "range and default", *more]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *rows, ""])


def text(programs):
    """`programs`: the folder of the built programs."""
    by_daemon = {name: options_of(programs / f"fanline-{name}") for name in DAEMONS}
    owners = {}  # Option -> daemons, in the order of --help
    for daemon, options in by_daemon.items():
        for option in options.values():
            owners.setdefault(option, []).append(daemon)
    several = {option: daemons for option, daemons in owners.items() if 1 < len(daemons) < len(DAEMONS)}
    parts = [HEAD, "## Every daemon\n", table(row(option) for option, daemons in owners.items()
                                              if len(daemons) == len(DAEMONS)),
             "## Several daemons\n", table([row(option, ", ".join(daemons)) for option, daemons in several.items()], "of")]
    for daemon in DAEMONS:
        parts += [f"## fanline-{daemon}\n", table(row(option) for option, daemons in owners.items() if daemons == [daemon])]
    return "\n".join(parts)
