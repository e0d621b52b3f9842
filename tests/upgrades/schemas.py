"""The messages of schemas/proto as compiled descriptors, and whether a reader of others can live with them (buf breaking).
Run as a program it records those of today; make reference does. What is recorded no later change may break."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUF = ROOT / "build" / "tools" / "buf" / "bin" / "buf"
FIRST = ROOT / "tests" / "upgrades" / "first" / "messages.binpb"
RECORDED = ROOT / "tests" / "upgrades" / "messages.binpb"
_BREAKS = 100  # the exit code of buf


def compile_to(image, root=ROOT):
    protos = sorted(path.relative_to(root) for path in (root / "schemas" / "proto").glob("*.proto"))
    subprocess.run(["protoc", "-I", ".", "--descriptor_set_out", image, *protos], cwd=root, check=True)


def broken(image, against):
    """What of `against` the messages of `image` break, a line each."""
    done = subprocess.run([BUF, "breaking", image, "--against", against, "--config", ROOT / "schemas" / "buf.yaml"],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, _BREAKS):
        raise RuntimeError(f"buf ended with {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def record():
    with tempfile.TemporaryDirectory() as folder:
        today = Path(folder) / "today.binpb"
        compile_to(today)
        if lines := broken(today, RECORDED):
            sys.exit("\n".join(["readers of before would not understand these messages:", *lines]))
        RECORDED.write_bytes(today.read_bytes())


if __name__ == "__main__":
    record()
