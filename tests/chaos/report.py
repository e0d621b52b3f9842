"""A run in a line, and many in a table."""


def line(result):
    faults = " ".join(f"{kind} {count}" for kind, count in sorted(result.faults.items()))
    causes = " ".join(f"{cause} {count}" for cause, count in result.takeovers.items() if count)
    repairs = " ".join(f"{net} {count}" for net, count in result.repairs.items())
    audit = result.audit
    return (f"seed {result.seed}: {result.events:,} events, {result.changes:,} changes, "
            f"{sum(result.faults.values())} faults ({faults}), takeovers: {causes}; "
            f"{result.fenced:,} fenced writes, {result.replayed:,} hints replayed, "
            f"{result.blamed} blamed, {result.visits} visits, repairs: {repairs}; quiet after {result.quiet_s:.1f} s; audit "
            f"missing={audit.get('missing')} extra={audit.get('extra')} "
            f"malformed={audit.get('malformed')} of {audit.get('timelines')} timelines; "
            f"{result.seconds:.0f} s: {'WRONG' if result.wrong else 'ok'}")


def table(results):
    yield "| seed | faults | takeovers | rolled back | fenced | replayed | blamed | quiet after | missing/extra | took | |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for result in results:
        yield (f"| {result.seed} | {sum(result.faults.values())} | "
               f"{sum(result.takeovers.values())} | {result.takeovers['rolled_back']} | "
               f"{result.fenced} | {result.replayed:,} | {result.blamed} | {result.quiet_s:.1f} s | "
               f"{result.audit.get('missing', '-')}/{result.audit.get('extra', '-')} | "
               f"{result.seconds:.0f} s | {'**wrong**' if result.wrong else 'ok'} |")
