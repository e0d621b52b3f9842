"""Fanline's own programs beside the services, as the demo, the end-to-end tests and the bench use
them: daemon.py is one daemon through all its restarts, fleet.py several of them, feedctl.py the
command line, metrics.py what /metrics says, backlog.py what Kafka says is left to do, timelines.py
what really is in Redis.
"""

import os
from pathlib import Path

from stack.workspace import BUILD

# Where the programs are: another build names its own.
BIN = Path(os.environ.get("FANLINE_BIN", BUILD / "release" / "bin"))
