"""docs/producers.md cannot drift: it leads to the example files, and what it says is accepted or refused, is."""

import re
import subprocess
import unittest

from tests.e2e.decoding import ROOT, decode

PAGE = (ROOT / "docs" / "producers.md").read_text()
# Lead to examples of their own.
OTHERS = "".join((ROOT / "docs" / page).read_text() for page in ("relations-contract.md", "tutorial.md"))
POSTS, RELATIONS = PAGE.split("## Relation events")

REFUSED = re.compile(r"^\| `(\{.*?\})` \| `(.*)` \|$", re.M)


def blocks(language, text=PAGE):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)


def types_of(text, kind):
    """Of the JSON events shown, all of which must be accepted."""
    types = []
    for value in blocks("json", text):
        accepted, event = decode(value.encode(), "application/json", kind)
        assert accepted, f"{value}: {event}"
        types.append(re.search(r'"type":"([^"]*)"', event)[1])
    return sorted(types)


class ProducersPage(unittest.TestCase):
    def test_leads_to_every_example_file_and_says_how_to_run_it(self):
        files = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs" / "examples").glob("*/*")
                 if path.is_file() and path.name not in OTHERS}
        self.assertEqual(set(re.findall(r"\]\((examples/\S+)\)", PAGE)), files)
        self.assertEqual(set(re.findall(r"\bdocs/(examples/\S+)`", PAGE)), files)

    def test_shows_one_accepted_json_event_of_each_type_and_a_repost(self):
        self.assertEqual(types_of(POSTS, "post"), ["post.deleted", "post.edited", "post.hidden", "post.published",
                                                   "post.published", "post.unhidden"])
        self.assertEqual(sum('"repost_of":' in value for value in blocks("json", POSTS)), 1)
        self.assertEqual(types_of(RELATIONS, "relation"),
                         ["relation.follow", "relation.unfollow"])

    def test_shows_accepted_events_in_protobufs_text_format(self):
        texts = blocks("textproto")
        self.assertGreaterEqual(len(texts), 2)
        for text in texts:
            value = subprocess.run(
                ["protoc", "--encode=fanline.v1.FeedEvent", "schemas/proto/feed_event.proto"],
                cwd=ROOT, input=text.encode(), capture_output=True, check=True).stdout
            accepted, event = decode(value, "application/x-protobuf")
            self.assertTrue(accepted, f"{text}: {event}")

    def test_shows_the_very_words_of_a_refusal(self):
        refused = REFUSED.findall(PAGE)
        self.assertGreaterEqual(len(refused), 5)
        for value, reason in refused:
            self.assertEqual(decode(value.encode(), "application/json"), (False, reason))

    def test_names_the_limits_that_are_compiled_in(self):
        for file, code, words in [
            ("dispatcher/limits.h", "oldest_record = std::chrono::hours(24 * 14);",
             "older than 14 days"),
            ("fanline/model/created_at.h", "std::chrono::minutes kFurthestFuture{5};",
             "5 minutes in the future"),
            ("mirror/limits.h", "oldest_record = std::chrono::hours(24 * 14);",
             "record older than 14 days is refused"),
            ("fanline/ports/forward_edges.h", "kMostFollowed = 5'000;", "follows at most 5,000"),
            ("fanline/wire/event_wire.h", "kMaxEventBytes = 64 * 1024;", "at most 64 KiB"),
        ]:
            self.assertIn(code, (ROOT / file).read_text())
            self.assertIn(words, " ".join(PAGE.split()))

    def test_shows_a_command_line_whose_event_is_accepted(self):
        typed = re.search(r"^echo '(.*)' \|$", PAGE, re.M)
        accepted, event = decode(typed[1].encode() + b"\n")
        self.assertTrue(accepted, event)
