"""Of a page in Markdown: the anchors of its headings, as GitHub and our site make them, and its links."""

import re

FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$")
CODE = re.compile(r"(`+)(?:(?!\1).)*?\1")
# A text may hold a picture or brackets; a target is followed by a title at most.
LINK = re.compile(r"(!?)\[((?:[^\[\]]|!?\[[^\[\]]*\](?:\([^()]*\))?)*)\]\(([^)\s]+)((?: \"[^\"]*\")?)\)")


def prose(text):
    """(number, line) of the lines outside of fenced code, from 1 on."""
    fence = None
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        mark = FENCE.match(line)
        if mark and fence in (None, mark[1]):
            fence = None if fence else mark[1]
        elif not fence:
            yield number, line


def blocks(text, *languages):
    """The text of each fenced block of one of these languages, in their order."""
    return [found[2] for found in re.finditer(r"^```(\w*)[^\n]*\n(.*?)^```$", text, re.S | re.M)
            if found[1] in languages]


def section(text, title):
    """What stands below the heading `## title`, up to the next of its kind."""
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.S | re.M)[1]


def anchors(text):
    """What may stand behind # in a link to this page. Of a heading that comes twice, only the first can be
    named in the same way everywhere."""
    found = set()
    for _, line in prose(text):
        if heading := HEADING.match(line.rstrip("\n")):
            words = LINK.sub(r"\2", heading[1]).strip().lower()
            found.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return found


def _links(line):
    """Those outside of code, the inner ones of a link around a picture too."""
    code = [found.span() for found in CODE.finditer(line)]
    return [found for found in LINK.finditer(line)
            if not any(begin < found.start(3) < end for begin, end in code)]


def links(text):
    """(line, target) of every link and picture."""
    for number, line in prose(text):
        for found in _links(line):
            yield number, found[3]
            yield from ((number, inner[3]) for inner in LINK.finditer(found[2]))


def with_links(text, other):
    """The text with other(target) for each target; None: the words alone."""
    lines = text.splitlines(keepends=True)
    for number, line in prose(text):
        for found in reversed(_links(line)):
            picture, words, target, title = found.groups()
            words, target = with_links(words, other), other(target)
            line = (line[:found.start()] + (words if target is None else f"{picture}[{words}]({target}{title})")
                    + line[found.end():])
        lines[number - 1] = line
    return "".join(lines)
