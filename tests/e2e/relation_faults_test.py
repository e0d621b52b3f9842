"""Relations while everything fails. Clients follow, unfollow and make friends by HTTP and by
events; meanwhile processes are killed, hang and leave, the broker dies, shards are away. When
nothing is left to do, nothing that was acknowledged is lost, both directions, counters, friends and
timelines are exact, and to see every message again changes nothing.

Operations and faults are drawn from a seed, which is printed; FANLINE_SEED=... draws them again."""

import os
import random
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from demo.clients import Client
from stack.programs.api import Api
from stack.programs.backlog import Backlog
from stack.programs.daemon import Daemon
from stack.programs.feedctl import FeedctlFailed
from stack.programs.fleet import RELATION_EVENTS, RELATION_LOG
from stack.programs.relation_log import RelationLog
from tests.e2e import mirror_test
from tests.e2e.installation import SESSION, USERS
from tests.e2e.meanwhile import long
from tests.e2e.relation_clients import (NO_ANSWER, Events, Follows, Friends, Watcher, both_ways,
                                        own_pairs)
from tests.e2e.relations import Tables

EVERYBODY = range(1, USERS + 1)
GRACE_S = 1
FETCH_WAIT_S = 0.1  # how long a broker keeps a fetch when there is nothing
RECONCILER, RETRY = "fanline-reconciler", f"{RELATION_LOG}.retry"
AWAY_S = 30  # one shard
FOLLOWERS = 3  # clients who follow over HTTP
PAIRS, FRIENDS = 40, 20  # of users, for each client
LOST = 20  # changes whose messages no mirror sees
BURST, BURST_CLIENTS = 800, 8  # follows


class Faults(Client):
    """What happens when: (seconds from the start, in words, what to do)."""

    def __init__(self, steps, log):
        super().__init__(sorted(steps, key=lambda step: step[0]))
        self._log = log

    def work(self):
        begin = time.monotonic()
        for at, what, act in self.todo:
            time.sleep(max(0, begin + at - time.monotonic()))
            if not self._wanted:
                return
            with open(self._log, "a") as log:
                log.write(f"{time.monotonic() - begin:6.2f} {what}\n")
            act()


class Publishing(Client):
    def __init__(self, publish, draw):
        super().__init__(())
        self._publish, self._draw = publish, draw

    def work(self):
        while self._wanted:
            self._publish(self._draw.choice(EVERYBODY))
            time.sleep(0.1)


class RelationFaults(mirror_test.Mirrored):
    mirrors = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.brokers = cls.stack.env["FANLINE_KAFKA_BROKERS"]
        cls.log, cls.tables = RelationLog(cls.brokers), Tables(cls.stack)
        cls.reconcilers = [cls.reconciler(f"reconciler-{n}") for n in (1, 2)]
        cls.api = Api(cls.stack, cls.ports)
        cls.backlogs = [Backlog(cls.brokers, RECONCILER, RELATION_LOG),
                        Backlog(cls.brokers, f"{RECONCILER}-retry", RETRY)]
        for backlog in cls.backlogs:
            cls.addClassCleanup(backlog.close)

    @classmethod
    def reconciler(cls, name):
        return Daemon(cls.stack, cls.ports, RECONCILER, name, ["--grace", f"{GRACE_S}s", *SESSION])

    def setUp(self):
        self.seed = int(os.environ.get("FANLINE_SEED") or random.randrange(1 << 32))
        print(f"again: FANLINE_SEED={self.seed}", flush=True)
        super().setUp()
        for daemon in (*self.reconcilers, self.api):
            if not daemon.running:
                daemon.start()
        for daemon in (*self.reconcilers, self.api):
            daemon.wait_ready()

    def drawn(self, what):
        return random.Random(f"{self.seed} {what}")

    # ---- quiescence ----------------------------------------------------------------------------

    def left(self):
        """What is not done yet, in words, what is upstream first."""
        if records := self.fleet.unfinished():
            return records
        if rows := self.relations.pending():
            return f"{rows} rows of log1"
        for backlog in self.backlogs:
            if records := backlog.records():
                return f"{records} records for {backlog.group}"
        for reconciler in self.reconcilers:
            for gauge in ("pending", "retry_depth"):
                if number := reconciler.scrape().total(f"fanline_rel_{gauge}"):
                    return f"{number:g} {gauge} of {reconciler.name}"
        return ""

    def settled(self):
        for daemon in [*self.fleet.daemons, *self.reconcilers, self.api]:
            daemon.check_alive()
        self.last_left = self.left()
        # Twice: a row that a repair writes goes through all of it again, maybe behind our look.
        self.quiet = 0 if self.last_left else self.quiet + 1
        return self.quiet > 1

    def settle(self, timeout=300):
        self.quiet, self.last_left = 0, ""
        try:
            super().settle(timeout)
        except TimeoutError as error:
            raise AssertionError(f"left: {self.last_left}") from error

    # ---- what must hold ------------------------------------------------------------------------

    def everything(self):
        """All the state that a message seen again must not change."""
        return [sorted(row for shard in self.stack.mysql for row in shard.query(sql)) for sql in (
            "SELECT src, dst, ver, state, pos, app_version, friend_version FROM following",
            "SELECT src, dst, ver, state, pos FROM follower",
            "SELECT user_id, following_cnt, epoch FROM user_rel",
            "SELECT user_id, fans_cnt, epoch FROM user_fan",
            "SELECT COUNT(*) FROM log1", "SELECT COUNT(*) FROM repair_log")]

    def note_outcome(self, may):
        """The ledger takes over what became of edges that may be one thing or the other."""
        forward = self.tables.forward()
        wrong = {}
        for edge, allowed in may.items():
            _, live = forward.get(edge, (0, False))
            if live not in allowed:
                wrong[edge] = live
            self.note(*edge, live)
        self.assertEqual(wrong, {}, "not as the client was told")

    def assert_rows_are_the_ledger(self):
        self.assertEqual({edge for edge, (_, live) in self.tables.forward().items() if live},
                         self.ledger.edges())

    def assert_friends(self, users):
        """I13: the API's list and its checks say so exactly where both edges are."""
        client = self.api.client()
        edges = self.ledger.edges()
        for user in users:
            friends = {other for other in EVERYBODY if {(user, other), (other, user)} <= edges}
            page = client.get(f"/v1/users/{user}/friends?limit=200")
            self.assertEqual({int(item["id"]) for item in page.json["items"]}, friends)
            others = [other for other in EVERYBODY if other != user]
            items = client.post(f"/v1/users/{user}/relations:check",
                                {"ids": [str(other) for other in others]}).json["items"]
            self.assertEqual({other for other, item in zip(others, items)
                              if item["relation"] == "mutual"}, friends)
        client.close()

    # ---- faults --------------------------------------------------------------------------------

    # A daemon that ended by itself fails the test.

    def restart(self, daemon):
        daemon.check_alive()
        if daemon.running:
            daemon.kill()
        daemon.start()

    def leave(self, daemon):
        """Stops it in good order, if it manages within three seconds."""
        daemon.check_alive()
        if daemon.running:
            daemon.stop(timeout=3)

    def join_again(self, daemon):
        daemon.check_alive()
        if not daemon.running:
            daemon.start()

    def resume(self, daemon):
        if daemon.running:
            daemon.resume()

    def set_mode(self, mode):
        try:
            self.feedctl.run("relations", "mode", mode)
            self.modes_set += 1
        except FeedctlFailed:
            pass  # the setting's shard is away

    def faults_of_daemons(self, draw, seconds):
        """Every two seconds the second mirror and reconciler leave or come. In between, one of
        all daemons is killed or hangs, sometimes for longer than its session."""
        hangs_until = 0
        leaving = self.fleet.mirrors[1], self.reconcilers[1]
        for at in range(1, seconds, 2):
            for daemon in leaving:
                if at % 4 == 1:
                    yield at, f"{daemon.name} leaves", lambda daemon=daemon: self.leave(daemon)
                else:
                    yield at, f"{daemon.name} joins", lambda daemon=daemon: self.join_again(daemon)
            at += 0.5 + draw.random()
            victims = [self.api, *self.reconcilers, self.fleet.mirrors[1]]
            if at > hangs_until:
                victims += [self.fleet.mirrors[0]] * 3
            victim = draw.choice(victims)
            if victim is self.fleet.mirrors[0] and draw.random() < 0.5:
                hangs_until = at + GRACE_S * draw.uniform(1.5, 5)
                yield at, f"{victim.name} hangs", victim.pause
                yield hangs_until, f"{victim.name} goes on", lambda: self.resume(
                    self.fleet.mirrors[0])
            else:
                yield (at, f"{victim.name} is killed",
                       lambda victim=victim: self.restart(victim))

    def faults_of_services(self, draw):
        """One shard is away for long, the other shortly, the broker is killed: one after the other,
        in any order. The mirror mode is switched between."""
        kafka, shards = self.stack.kafka, list(self.stack.mysql)
        draw.shuffle(shards)
        faults = [(shards[0], shards[0].stop, AWAY_S),
                  (shards[1], shards[1].kill, draw.uniform(2, 4)),
                  (kafka, kafka.kill, draw.uniform(0.2, 2))]
        draw.shuffle(faults)
        at = 2.0
        for number, (service, end, away) in enumerate(faults):
            mode = "sync" if number % 2 == 0 else "async"
            yield at, f"mode {mode}", lambda mode=mode: self.set_mode(mode)
            at += 1 + draw.random()
            yield (at, f"{service.name} goes for {away:.1f} s",
                   lambda fault=(service, end, away): self.take_away(*fault))
            at += away + 3  # a broker's start
        yield at, "mode async", lambda: self.set_mode("async")

    def take_away(self, service, end, seconds):
        end()
        time.sleep(seconds)
        service.start()

    def lose_messages(self, edges):
        """Follows that no mirror finds in log1."""
        for mirror in self.fleet.mirrors:
            if mirror.running:
                mirror.kill()
        edges = self.change_by_hand(edges, True)
        self.forget_in_log1(edges)
        self.log.written(*edges)
        return edges

    def forget_in_log1(self, edges):
        for shard in self.stack.mysql:
            for src, dst, *_ in edges:
                shard.query(f"UPDATE log1 SET done = 1 WHERE src = {src} AND dst = {dst}")

    # ---- the tests -----------------------------------------------------------------------------

    @long
    def test_1_nothing_is_lost_brought_back_or_left_behind(self):
        lists, strangers = own_pairs(self.drawn("pairs"), self.ledger, EVERYBODY, FOLLOWERS + 1,
                                     PAIRS)
        friends, unseen = strangers[:FRIENDS], strangers[-LOST:]
        clients = [Follows(self.api, f"{self.seed} {number}", 0.03, pairs, self.ledger)
                   for number, pairs in enumerate(lists[:FOLLOWERS])]
        befriending = Friends(self.api, f"{self.seed} friends", 0.05, friends)
        events = Events(self.brokers, f"{self.seed} events", 0.2, lists[FOLLOWERS], self.ledger)
        clients += [befriending, events]
        watcher = Watcher(self.stack.mysql)
        publishing = Publishing(self.publish, self.drawn("posts"))
        log = self.stack.logs / "faults.log"
        self.modes_set = 0
        services = Faults(self.faults_of_services(self.drawn("services")), log)
        seconds = int(services.todo[-1][0]) + 1
        daemons = Faults(self.faults_of_daemons(self.drawn("daemons"), seconds), log)

        everyone = [*clients, publishing, watcher, services, daemons]
        for one in everyone:
            self.addCleanup(one.leave)
            one.start()
        for one in (services, daemons):
            one.finish()
        lost = self.lose_messages(unseen)
        for one in (*clients, publishing):
            one.leave()
            one.finish()
        for daemon in [*self.fleet.mirrors, *self.reconcilers, self.api]:
            self.resume(daemon)
            self.join_again(daemon)
        ended = time.monotonic()
        self.settle()
        quiet = time.monotonic() - ended
        watcher.leave()
        watcher.finish()
        checks = sum(reconciler.counters().total("fanline_rel_checks_total")
                     for reconciler in self.reconcilers)
        print(f"{seconds} s, {len(services.todo) + len(daemons.todo)} faults, "
              f"{sum(one.acknowledged for one in clients)} operations acknowledged and "
              f"{sum(one.unknown for one in clients)} not, {watcher.looks} looks meanwhile; "
              f"quiet after {quiet:.1f} s, {checks:.0f} checks, {len(self.tables.repairs())} "
              "repairs", flush=True)

        for one in clients:
            self.assertGreater(one.acknowledged, 20, "a client that could do nothing proves nothing")
        self.assertGreater(watcher.looks, 100)
        self.assertGreater(self.modes_set, 1)
        self.assertGreaterEqual(min(self.repairs_of(lost)), 1)
        self.assertEqual(watcher.wrong, [])
        forward = self.tables.forward()
        for pair in befriending.may:
            there, back = (forward.get(edge, (0, False))[1] for edge in both_ways([pair]))
            self.assertEqual(there, back, f"half a friendship of {pair}")
        for one in clients:
            self.note_outcome(one.edges() if one is befriending else one.may)
        self.assert_mirrored()
        self.assert_rows_are_the_ledger()
        self.assert_friends({user for pair in befriending.may for user in pair})
        for reconciler in self.reconcilers:
            self.assertEqual(reconciler.status("/readyz"), 200)
            self.assertEqual(reconciler.scrape().total("fanline_rel_breaker_open"), 0)

        before = self.everything()
        seen_again = 0
        for topic in (RELATION_LOG, RELATION_EVENTS, RETRY):
            records = self.read_all(topic)
            self.drawn(topic).shuffle(records)
            for key, value in records:
                self.kafka.produce(topic, value, key)
                self.kafka.poll(0)
            self.assertEqual(self.kafka.flush(60), 0)
            seen_again += len(records)
        self.assertGreater(seen_again, 1_000)
        self.assert_mirrored()
        self.assertEqual(self.everything(), before)
        print(f"{seen_again} messages seen again change nothing", flush=True)

    def test_2_killed_after_the_forward_commit_no_acknowledged_follow_is_lost(self):
        for mode in ("sync", "async"):
            with self.subTest(mode):
                self.feedctl.run("relations", "mode", mode)
                time.sleep(1.5)  # it is read about once a second
                edges = self.strangers(BURST)
                acknowledged = []
                with ThreadPoolExecutor(BURST_CLIENTS) as pool:
                    following = [pool.submit(self.follow_until_it_dies,
                                             edges[number::BURST_CLIENTS], acknowledged)
                                 for number in range(BURST_CLIENTS)]
                    self.wait_for(lambda: len(acknowledged) > BURST // 5, "follows")
                    self.api.process.kill()
                    for one in following:
                        one.result()
                self.api.start().wait_ready()
                self.settle()
                forward = self.tables.forward()
                made = {edge for edge in edges if forward.get(edge, (0, False))[1]}
                print(f"{mode}: {len(acknowledged)} acknowledged, {len(made)} made", flush=True)
                self.assertLess(len(acknowledged), BURST)
                self.assertEqual(set(acknowledged) - made, set(), "acknowledged, and lost")
                reverse = self.tables.reverse()
                self.assertEqual({edge for edge in made if reverse.get(edge) != forward[edge]},
                                 set())
                for edge in made:
                    self.note(*edge, True)
                self.assert_mirrored()
                self.assert_rows_are_the_ledger()

    def follow_until_it_dies(self, edges, acknowledged):
        client = self.api.client()
        try:
            for src, dst in edges:
                self.assertEqual(client.put(f"/v1/users/{src}/following/{dst}").status, 200)
                acknowledged.append((src, dst))
        except NO_ANSWER:
            pass
        finally:
            client.close()

    def change_by_hand(self, edges, live):
        """Changes each with its row of log1. Returns (src, dst, ver, live) of each."""
        for src, dst in edges:
            self.change(src, dst, live)
        forward = self.tables.forward()
        return [(*edge, *forward[edge]) for edge in edges]

    def mirrored(self, edges):
        rows = self.tables.reverse()
        return all(rows.get(edge[:2]) == edge[2:] for edge in edges)

    def row(self, edge):
        src, dst, *_ = edge
        return self.stack.mysql[self.relations.shard_of(dst)].query(
            f"SELECT ver, state, pos, ut FROM follower WHERE src = {src} AND dst = {dst}")

    def repairs_of(self, edges):
        """How often each was repaired, as it is now."""
        repaired = [(src, dst, ver) for _, _, src, dst, _, _, ver in self.tables.repairs()]
        return [repaired.count(edge[:3]) for edge in edges]

    def test_3_a_change_applied_long_after_its_repair_changes_nothing(self):
        begun = self.strangers()
        ended = self.drawn("ended").choice(sorted(self.ledger.edges()))
        applied = self.counter("fanline_rel_apply_total", result="applied")
        stale = self.counter("fanline_rel_apply_total", result="stale")
        for mirror in self.fleet.mirrors:
            mirror.pause()
            self.addCleanup(mirror.resume)
        edges = self.change_by_hand([begun], True) + self.change_by_hand([ended], False)
        self.log.written(*edges)
        self.wait_for(lambda: self.mirrored(edges), "the repairs")
        rows = [self.row(edge) for edge in edges]
        self.assertEqual(self.repairs_of(edges), [1, 1])
        for mirror in self.fleet.mirrors:
            mirror.resume()
        for mirror in self.fleet.mirrors:
            mirror.wait_ready()
        self.assert_mirrored()
        self.assertEqual(self.counter("fanline_rel_apply_total", result="applied"), applied)
        self.assertGreaterEqual(self.counter("fanline_rel_apply_total", result="stale"), stale + 2)
        self.assertEqual([self.row(edge) for edge in edges], rows)
        self.assertEqual(self.repairs_of(edges), [1, 1])

    def test_4_a_log_cut_off_before_it_was_read_is_said_and_stops_nobody(self):
        alone = self.stop_all_readers()
        strangers = self.strangers(45)
        pending = self.change_by_hand(strangers[:20], True)  # in log1 too
        lost = self.change_by_hand(strangers[20:30], True)  # in the log alone
        self.forget_in_log1(lost)
        self.log.written(*pending, *lost)
        unread = self.backlogs[0].records()
        self.assertGreaterEqual(unread, 30)
        self.log.cut()

        losses = self.lost_records(alone)
        alone.start().wait_ready()
        self.wait_for(lambda: self.lost_records(alone) == losses + unread, "the loss to be told")
        self.assertIn("cut from a log", (self.stack.logs / f"{alone.name}.log").read_text())
        self.assertEqual(alone.stop(), 0)
        alone.start().wait_ready()
        # What is new is found, also of an edge whose message was lost.
        new = self.change_by_hand(strangers[30:], True)
        self.log.written(*new, *lost[:5])
        self.wait_for(lambda: set(self.repairs_of(new + lost[:5])) == {1}, "the repairs")
        self.assertEqual(self.lost_records(alone), losses + unread, "said twice")

        # What only the cut log held is for a scan to find; the rows of log1 are the mirrors'.
        self.assertEqual(self.repairs_of(pending + lost[5:]), [0] * 25)
        for mirror in self.fleet.mirrors:
            mirror.start().wait_ready()
        self.wait_for(lambda: self.mirrored(pending), "the mirrors")
        self.log.written(*lost[5:])
        self.reconcilers[1].start().wait_ready()
        self.assert_mirrored()
        self.assert_rows_are_the_ledger()

    def test_5_a_log_cut_off_under_its_reader_is_said_once_and_read_on(self):
        alone = self.stop_all_readers().start().wait_ready()
        before, = self.change_by_hand([self.strangers()], True)
        self.log.written(before)
        self.wait_for(lambda: self.repairs_of([before]) == [1], "the reader to be at work")
        self.wait_for(lambda: self.backlogs[0].records() == 0, "its commit")
        losses = self.lost_records(alone)
        alone.pause()
        # A fetch under way would bring the reader what is written next, cut or not: it ends empty.
        time.sleep(10 * FETCH_WAIT_S)
        self.log.written(*self.change_by_hand(self.strangers(20), True))
        unread = self.backlogs[0].records()
        self.assertEqual(unread, 20)
        self.log.cut()
        alone.resume()
        self.wait_for(lambda: self.lost_records(alone) == losses + unread, "the loss to be told")
        self.assertIn("cut from a log", (self.stack.logs / f"{alone.name}.log").read_text())
        new = self.change_by_hand(self.strangers(5), True)
        self.log.written(*new)
        self.wait_for(lambda: set(self.repairs_of(new)) == {1}, "the repairs")
        alone.check_alive()
        self.assertEqual(self.lost_records(alone), losses + unread, "said twice")
        for daemon in (*self.fleet.mirrors, self.reconcilers[1]):
            daemon.start().wait_ready()
        self.assert_mirrored()
        self.assert_rows_are_the_ledger()

    def stop_all_readers(self):
        """Stops relation-log's readers and the mirrors; returns the reconciler to start."""
        # A group that never committed a place in a partition cannot miss what was there.
        for edge in self.strangers(100):
            self.change(*edge, True)
        self.settle()
        for daemon in (*self.fleet.mirrors, *self.reconcilers):
            daemon.stop()
        return self.reconcilers[0]

    def lost_records(self, *daemons):
        for daemon in daemons:
            daemon.check_alive()
        return sum(daemon.counters().total("fanline_events_lost_total") for daemon in daemons)


if __name__ == "__main__":
    unittest.main()
