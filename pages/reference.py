"""The pages of the site that are made of something else: configuration.md of the daemons' --help, schemas.md of schemas/.
gather.py writes them."""

import os
from pathlib import Path

from pages import configuration, schemas

ROOT = Path(__file__).resolve().parents[1]
CONFIGURATION, SCHEMAS = "configuration.md", "schemas.md"


def programs():
    return Path(os.environ.get("FANLINE_BIN", ROOT / "build" / "release" / "bin")).resolve()


def generated():
    """Place in the site -> the text, whose links are those of a page of docs/."""
    return {CONFIGURATION: configuration.text(programs()), SCHEMAS: schemas.text(ROOT)}
