"""What a dispatcher makes of a record's value, asked of the program decode_event."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("FANLINE_BIN", ROOT / "build" / "release" / "bin"))


def decode(value, content_type="", kind="post"):
    """(True, the event as canonical JSON) or (False, the reason it is refused). `kind`: post, or
    relation, which a mirror reads."""
    run = subprocess.run([BIN / "decode_event", content_type, kind], input=value,
                         capture_output=True, timeout=60)
    if run.returncode not in (0, 1) or run.stderr:
        raise RuntimeError(f"decode_event ended with {run.returncode}: {run.stderr.decode()}")
    return run.returncode == 0, run.stdout.decode().rstrip("\n")
