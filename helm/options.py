"""The options of our programs, as --help prints them, and the JSON schema of a value of each."""

import re
import subprocess
from typing import NamedTuple

OPTION = re.compile(r"^  --([a-z0-9-]+)(?:\[=true\|false\]| (\S+))?\n        (.*)\n        FANLINE_\w+(?:, (.*))?$", re.M)
RANGE = re.compile(r"(?:^|, )(-?[\d.]+)\.\.(-?[\d.]+)(?:,|$)")
DURATION = "^[0-9]+(us|ms|s|m|h)$"
ALWAYS = {"config", "check-config", "help", "version"}


class Option(NamedTuple):
    name: str
    placeholder: str  # TEXT, N, DURATION, HOST:PORT, URI,..., a|b; empty for a switch
    meaning: str
    rest: str  # range and default

    def schema(self):
        return {"description": self.meaning, **self._type()}

    def _type(self):
        if self.placeholder == "":
            return {"type": "boolean"}
        if self.placeholder.endswith(",...") or self.placeholder == "LIST":
            item = {"type": "string", "minLength": 1}
            return {"anyOf": [item, {"type": "array", "items": item}]}
        if self.placeholder == "DURATION":
            return {"type": "string", "pattern": DURATION}
        if self.placeholder.split("|")[0] in ("N", "ITEMS", "MEMBERS"):
            kinds = [self._number(), *({"const": word} for word in self.placeholder.split("|")[1:])]
            return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        if "|" in self.placeholder:
            return {"enum": self.placeholder.split("|")}
        return {"type": "string", "minLength": 1}

    def _number(self):
        bounds = RANGE.search(self.rest)
        if bounds is None:
            return {"type": "integer", "minimum": 0}
        low, high = (float(bound) for bound in bounds.groups())
        share = (low, high) == (0, 1)
        return {"type": "number" if share else "integer",
                "minimum": int(low), "maximum": int(high)}


def options_of(program, *command):
    """Name -> Option, of `program command --help`."""
    text = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout
    found = {match[1]: Option(match[1], match[2] or "", match[3], match[4] or "")
             for match in OPTION.finditer(text) if match[1] not in ALWAYS}
    listed = set(re.findall(r"^  --([a-z0-9-]+)", text, re.M)) - ALWAYS
    assert set(found) == listed, f"{program}: not understood: {set(found) ^ listed}"
    return found
