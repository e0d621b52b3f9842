"""Fanline today beside the first version whose keys of a range carry one tag: what it wrote is read, what is written today it
reads, and the two run side by side while one replaces the other. first/ is what was recorded of it."""

# The first commit with schema_version 5.
FIRST = "cb5bd6e796affb92f8cd1c2d5efac3be7cd89aaa"
