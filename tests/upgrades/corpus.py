"""What a version writes to Kafka, recorded, and given to another version to read.

A corpus is a folder: graph.txt, who follows whom before; records.jsonl, all that was in all topics, in the order of their
partitions; outcome.json, the posts and reverse rows that came of it. Record one: python3 -m tests.upgrades.corpus PROGRAMS FOLDER
"""

import base64
import json
import subprocess
import sys
import time
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from demo.producer import Producer as FeedProducer
from demo.workload import Event
from stack.local_stack import LocalStack, wait_until
from stack.ports import Ports
from stack.programs import BIN
from stack.programs.backlog import Backlog
from stack.programs.daemon import Daemon
from stack.programs.feedctl import Feedctl
from stack.programs.fleet import FEED, RELATION_EVENTS, RELATION_LOG, TASKS
from stack.programs.relation_log import RelationLog
from stack.programs.relations import Relations
from stack.services.service import ServiceFailed
from stack.waiting import NotInTime

ROOT = Path(__file__).resolve().parents[2]
RETRY = f"{RELATION_LOG}.retry"
LOGS = (FEED, RELATION_EVENTS, RELATION_LOG, RETRY, TASKS)
LETTERS = tuple(f"{topic}.dlq" for topic in LOGS)
USERS = range(1, 13)
RANGES = 4
GRAPH = [(reader, author) for author in (1, 2, 3) for reader in USERS if reader != author]
# An edge whose second message never comes, for the reconcilers to come back to. What becomes of it depends on when they do.
HALF = (7, 9)


class Rig:
    """A small installation of the programs of one version. Positions of groups count its own records only."""

    def __init__(self, programs):
        self.ports = Ports()
        self.stack = LocalStack(ports=self.ports, say=lambda line: None).start()
        self.feedctl = Feedctl(self.stack)
        self.feedctl.programs = programs
        self.feedctl.run("init", "--ranges", RANGES)
        self.feedctl.run("topics", "create", "--feed-partitions", 2, "--relation-partitions", 2)
        self.dispatcher, self.pusher, self.mirror, self.reconciler = self.daemons = [
            Daemon(self.stack, self.ports, f"fanline-{role}", role, args)
            for role, args in (("dispatcher", ["--sample-rate", 1]), ("pusher", []), ("mirror", []), ("reconciler", ["--grace", "1s"]))]
        for daemon in self.daemons:
            daemon.programs = programs
        self.relations = Relations(self.stack.mysql)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            print(f"logs: {self.stack.keep_logs('upgrades')}", flush=True)
        self.stack.stop()

    def begin(self, graph):
        file = self.stack.logs / "graph.txt"
        file.write_text(graph)
        self.feedctl.run("import", file)
        for daemon in self.daemons:
            daemon.start()
        for daemon in self.daemons:
            daemon.wait_ready()
        wait_until(lambda: self.pusher.scrape().total("fanline_ranges_ready") == RANGES, 60, "the ranges to be owned")
        self.feedctl.run("activate", lines=USERS)

    def settle(self):
        for group, topic in (("fanline-dispatcher", FEED), ("fanline-mirror-events", RELATION_EVENTS)):
            self.wait_done(group, topic)
        wait_until(lambda: self.relations.pending() == 0, 60, "log1 to be relayed")
        for group, topic in (("fanline-mirror", RELATION_LOG), ("fanline-reconciler", RELATION_LOG), ("fanline-pusher", TASKS)):
            self.wait_done(group, topic)

    def wait_done(self, group, topic):
        backlog = Backlog(self.stack.kafka.address, group, topic)
        try:
            wait_until(lambda: backlog.records() == 0, 60, f"{group} to have done {topic}")
        finally:
            backlog.close()

    def rows(self, sql):
        return sorted(row for shard in self.stack.mysql for (row,) in shard.query(sql))

    def outcome(self):
        """What came of the records, whatever the version that read them: those of the import are left out."""
        imported = {f"{src} {dst}" for src, dst in (*GRAPH, HALF)}

        def others(rows):
            return [row for row in rows if row.rsplit(" ", row.count(" ") - 1)[0] not in imported]

        return {"posts": self.rows("SELECT CONCAT_WS(' ', author_id, post_id, created_at_ms, deleted, hidden, visibility_version, "
                                   "edit_version) FROM author_post"),
                "reverse": others(self.rows("SELECT CONCAT_WS(' ', src, dst, state) FROM follower")),
                "events": self.rows("SELECT CONCAT_WS(' ', src, dst, state, app_version) FROM following WHERE app_version > 0")}

    def letters(self):
        """(topic, reason) of each dead letter, sorted."""
        return sorted((topic, dict(headers)["fanline-reason"].decode()) for topic, _, _, _, headers in map(parts, self.records(LETTERS)))

    def records(self, topics):
        """Every record of these topics."""
        consumer = Consumer({"bootstrap.servers": self.stack.kafka.address, "group.id": "recorder", "enable.auto.commit": False})
        try:
            for topic in topics:
                for partition in sorted(consumer.list_topics(topic, 60).topics[topic].partitions):
                    place = TopicPartition(topic, partition, 0)
                    _, end = consumer.get_watermark_offsets(place, 60)
                    consumer.assign([place])
                    offset = 0
                    while offset < end:
                        record = consumer.poll(60)
                        assert record is not None and record.error() is None, f"{topic}/{partition} ends before {end}"
                        offset = record.offset() + 1
                        yield record
        finally:
            consumer.close()


def parts(record):
    return record.topic(), record.partition(), record.key(), record.value(), record.headers() or []


def use(rig):
    """Every kind of event, of record and of dead letter once or more."""
    now = time.time_ns() // 1_000_000
    producer = FeedProducer(rig.stack.kafka.address, FEED)
    life = [Event("published", post, 1 + post % 3, now + post) for post in range(1, 13)]
    life += [Event("deleted", 1, 2), Event("hidden", 2, 3, version=1), Event("hidden", 3, 1, version=1),
             Event("unhidden", 3, 1, version=2)]
    producer.send(life)
    rig.feedctl.run("edit", "--author", 2, "--post", 4, "--version", 1)
    kafka = Producer({"bootstrap.servers": rig.stack.kafka.address})

    def send(topic, key, value, kind="application/json"):
        kafka.produce(topic, key=key, value=value, headers={"content-type": kind, "traceparent": "00-1-2-01"})

    def encode(message, file, text):
        return subprocess.run(["protoc", f"--encode=fanline.v1.{message}", f"schemas/proto/{file}.proto"], cwd=ROOT,
                              input=text.encode(), capture_output=True, check=True).stdout

    def relation(kind, src, dst, version):
        return json.dumps({"schema_version": 1, "type": f"relation.{kind}", "src": str(src), "dst": str(dst), "version": version})

    binary = "application/x-protobuf"
    send(FEED, "13", encode("FeedEvent", "feed_event",
                            f"schema_version: 1 published {{ post_id: 13 author_id: 1 created_at_ms: {now + 13} }}"), binary)
    send(FEED, "14", '{"schema_version":1,"type":"post.gone","post_id":"14","author_id":"1"}')
    send(RELATION_EVENTS, "4:5", relation("follow", 4, 5, 1))
    send(RELATION_EVENTS, "5:1", relation("follow", 5, 1, 1))
    send(RELATION_EVENTS, "5:1", relation("unfollow", 5, 1, 2))
    send(RELATION_EVENTS, "6:5", encode("RelationEvent", "relation_event",
                                        "schema_version: 1 follow { src: 6 dst: 5 version: 1 }"), binary)
    send(RELATION_EVENTS, "4:4", relation("follow", 4, 4, 1))
    assert kafka.flush(60) == 0
    for src, dst, live in ((8, 9, True), (9, 8, True), (8, 9, False), (11, 12, True)):
        rig.relations.change(src, dst, live)
    rig.settle()
    leave_half(rig)


def leave_half(rig):
    """A first message that the mirror never sees, while reconcilers put off what they would repair."""
    rig.feedctl.run("relations", "reconciler", "pause")
    rig.mirror.stop()
    rig.relations.change(*HALF, True)
    shard = rig.stack.mysql[rig.relations.shard_of(HALF[0])]
    (ver, log_id), = shard.query("SELECT ver, id FROM log1 WHERE src = {} AND dst = {}".format(*HALF))
    log = RelationLog(rig.stack.kafka.address)
    log.written((*HALF, int(ver), True), log_id=int(log_id))
    log.skip("fanline-mirror")
    shard.query(f"UPDATE log1 SET done = 1 WHERE id = {log_id}")
    rig.mirror.start().wait_ready()
    wait_until(lambda: any(rig.records([RETRY])), 60, "the reconciler to put it off")


def record(programs, folder):
    """Runs a version, uses it and writes the corpus down."""
    with Rig(programs) as rig:
        graph = "".join(f"{reader} {author}\n" for reader, author in GRAPH)
        rig.begin(graph)
        use(rig)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "graph.txt").write_text(graph)
        (folder / "outcome.json").write_text(json.dumps(rig.outcome(), indent=0) + "\n")

        def text(value):
            return None if value is None else base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()

        with open(folder / "records.jsonl", "w", encoding="utf-8") as out:
            for topic, partition, key, value, headers in map(parts, rig.records((*LOGS, *LETTERS))):
                out.write(json.dumps([topic, partition, text(key), text(value),
                                      [[name, text(each)] for name, each in headers]]) + "\n")


def recorded(folder):
    """(topic, partition, key, value, headers) of each record."""
    def back(value):
        return None if value is None else base64.b64decode(value)

    for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines():
        topic, partition, key, value, headers = json.loads(line)
        yield topic, partition, back(key), back(value), [(name, back(each)) for name, each in headers]


def consume(programs, folder, test, then=lambda rig, letters: None):
    """A version is given the corpus of another, and must make of it what that one made of it. `test`: a TestCase. At the end `then`
    is given what the other version wrote as dead letters."""
    given = list(recorded(folder))
    for topic in LOGS:
        test.assertTrue(any(record[0] == topic for record in given), f"nothing of {topic} was recorded")
    with Rig(programs) as rig:
        rig.begin((folder / "graph.txt").read_text(encoding="utf-8"))
        producer = Producer({"bootstrap.servers": rig.stack.kafka.address})
        for log in LOGS:
            for topic, partition, key, value, headers in given:
                if topic == log:
                    producer.produce(topic, partition=partition, key=key, value=value, headers=headers)
        test.assertEqual(producer.flush(60), 0)
        rig.settle()
        # All pairs of relation-log are whole: what is compared comes from an entry of the retries.
        wait_until(lambda: rig.reconciler.scrape().total("fanline_rel_checks_total"), 60, "an entry of the retries to be read")
        test.assertEqual(rig.outcome(), json.loads((folder / "outcome.json").read_text(encoding="utf-8")))
        audit = rig.feedctl.json("audit", "--json")
        test.assertEqual((audit["good"], audit["timelines"]), (True, len(USERS)))
        letters = sorted((topic, dict(headers)["fanline-reason"].decode()) for topic, _, _, _, headers in given if topic in LETTERS)
        test.assertEqual(rig.letters(), letters)
        test.assertGreaterEqual(rig.pusher.scrape().total("fanline_hints_done_total"), sum(topic == TASKS for topic, *_ in given))
        then(rig, [record for record in given if record[0] in LETTERS])


def main():
    try:
        record(Path(sys.argv[1]).resolve() if len(sys.argv) > 2 else BIN, Path(sys.argv[-1]))
    except (ServiceFailed, NotInTime) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
