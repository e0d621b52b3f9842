"""build/mutants/report.json: the outcome of each mutant. It holds while the mutant and its file
are unchanged; a survivor's does not, because tests are written against it."""

import hashlib
import json

from tests.mutants.workbench import Outcome


class Report:
    def __init__(self, root, mutants):
        """The files are read now: they may change while their copies are worked on."""
        self._path = root / "build" / "mutants" / "report.json"
        texts = {name: (root / name).read_text(encoding="utf-8")
                 for name in {mutant.file for mutant in mutants}}
        self._keys = {mutant: _key(mutant, texts[mutant.file]) for mutant in mutants}
        found = json.loads(self._path.read_text()) if self._path.exists() else []
        self._found = {entry["key"]: entry for entry in found if "key" in entry}

    def known(self, mutant):
        """The outcome of an earlier run that still holds, or None."""
        entry = self._found.get(self._keys[mutant])
        if entry is None or entry["result"] not in ("killed", "does not build"):
            return None
        return Outcome(entry["result"], entry["by"], entry["seconds"])

    def add(self, mutant, outcome):
        """Written at once: a run that is stopped has not been for nothing."""
        key = self._keys[mutant]
        self._found[key] = {"key": key, **mutant._asdict(), **outcome._asdict()}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(list(self._found.values()), indent=1) + "\n")


def _key(mutant, text):
    parts = (text, mutant.file, mutant.find, mutant.replace)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
