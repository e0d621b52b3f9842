"""Processor time of the services and programs of a stack: which one all others wait for."""

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """User and system time of a process so far, threads included; 0 when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    fields = stat.rsplit(")", 1)[1].split()  # the name before may hold anything
    return (int(fields[11]) + int(fields[12])) / _TICKS


def cpu_of(stack, fleet):
    """Seconds by role, and of ourselves as "demo"."""
    roles = {
        "kafka": [stack.kafka.pid],
        "redis": [node.pid for node in stack.redis.nodes],
        "mariadb": [shard.pid for shard in stack.mysql],
        "dispatchers": [daemon.process.pid for daemon in fleet.dispatchers if daemon.running],
        "pushers": [daemon.process.pid for daemon in fleet.pushers if daemon.running],
        "demo": [os.getpid()],
    }
    return {role: sum(map(cpu_seconds, pids)) for role, pids in roles.items()}
