"""The installation of a run: services, a graph imported, and the daemons, each under care."""

from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs.api import Api
from stack.programs.backlog import Backlog
from stack.programs.daemon import Daemon
from stack.programs.feedctl import Feedctl
from stack.programs.fleet import FEED, RELATION_EVENTS, RELATION_LOG, TASKS
from stack.programs.metrics import Samples
from stack.programs.relations import Relations
from stack.programs.visits import make_live
from stack.services.mysql import BINLOG
from stack.services.redis_cluster import SLOTS
from tests.chaos.kept import Kept
from tests.e2e.installation import made_up_graph

USERS = 400
# A member that is gone is missed after two seconds, and what is away is found out as soon.
SESSION = "session.timeout.ms=2000,heartbeat.interval.ms=300"
LATER_S = 12  # so old a change is when it is looked at once more
COMMON = ["--mysql-read-timeout", "2s", "--drain-limit", "5s"]
OPTIONS = {
    "dispatcher": ["--sample-rate", "0.1"],
    "pusher": ["--redis-command-timeout", "1s"],
    "mirror": [],
    "reconciler": ["--grace", "1s", "--counter-sweep-every", "10s", "--log-scan-after", f"{LATER_S}s"],
    "api": [],
}
TIGHT = {
    "dispatcher": ["--events-per-transaction", "8", "--events-open", "64"],
    "pusher": ["--followers-per-page", "100", "--timelines-per-batch", "20", "--items-per-zadd", "2",
               "--buffered-hints", "64"],
    "mirror": ["--edges-per-transaction", "8", "--records-open", "64"],
    "reconciler": [],
}
MEMBERS = {"dispatcher": 2, "pusher": 3, "mirror": 2, "reconciler": 2}
JOINING = "joining"  # one more of each role, which comes and goes


class Rig:
    """With `with`: from empty services to daemons that serve. `complaints`: what must not happen
    and did."""

    def __init__(self, plan, say):
        self.plan, self.say = plan, say
        self.complaints = []
        self.followers = made_up_graph(plan.drawn("graph"), USERS)
        self.users = sorted(self.followers)
        self._ports = Ports()
        self.stack = LocalStack(cluster=True, proxied=True, redis_appendonly=plan.appendonly,
                                ports=self._ports, mysql_args=BINLOG, say=say)

    def __enter__(self):
        self.stack.__enter__()
        try:
            self._set_up()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, *what):
        for backlog in getattr(self, "backlogs", []):
            backlog.close()
        self.stack.__exit__(*what)

    @property
    def redis(self):
        return self.stack.redis

    @property
    def brokers(self):
        """Past all links."""
        return self.stack.kafka.address

    @property
    def brokers_of_applications(self):
        return self.stack.env["FANLINE_KAFKA_BROKERS"]

    def slot_of(self, target):
        """Of "range 5"."""
        return SLOTS // self.plan.ranges * int(target.split()[1])

    def role(self, role):
        return [kept for name, kept in self.kept.items() if name.startswith(role)]

    def counters(self):
        return sum((kept.daemon.counters() for kept in self.kept.values()), Samples())

    def ranges_ready(self):
        return sum(kept.daemon.scrape().total("fanline_ranges_ready")
                   for kept in self.role("pusher") if kept.daemon.running)

    def left(self):
        """What is not done yet, in words, upstream first; empty: nothing."""
        for backlog in self.backlogs:
            if records := backlog.records():
                return f"{records:,} records for {backlog.group}"
            if backlog is self.backlogs[1] and (rows := self.relations.pending()):
                return f"{rows:,} rows of log1"
        for kept in self.role("reconciler"):
            if kept.daemon.running:
                for gauge in ("pending", "retry_depth"):
                    if number := kept.daemon.scrape().total(f"fanline_rel_{gauge}"):
                        return f"{number:g} {gauge} of {kept.name}"
        ready = self.ranges_ready()
        return "" if ready == self.plan.ranges else f"{ready:g} of {self.plan.ranges} ranges owned"

    def _set_up(self):
        plan, stack = self.plan, self.stack
        self.feedctl = Feedctl(stack)
        self.feedctl.run("init", "--ranges", plan.ranges, "--window", plan.window)
        self.feedctl.run("topics", "create")
        graph = stack.logs / "graph.txt"
        graph.write_text("".join(f"{reader} {author}\n" for author in self.users
                                 for reader in sorted(self.followers[author])))
        self.feedctl.run("import", graph)
        self.relations = Relations(stack.mysql)
        for shard in stack.mysql:
            shard.let_read_binlog()
        # What is upstream first: its effects are not yet counted below.
        self.backlogs = [Backlog(self.brokers, group, topic) for group, topic in (
            ("fanline-dispatcher", FEED), ("fanline-mirror-events", RELATION_EVENTS),
            ("fanline-reconciler", RELATION_LOG), ("fanline-reconciler-later", RELATION_LOG),
            ("fanline-reconciler-retry", f"{RELATION_LOG}.retry"), ("fanline-pusher", TASKS))]
        self._make_daemons()
        for kept in self.kept.values():
            if JOINING not in kept.name:
                kept.start()
        for kept in self.kept.values():
            if kept.daemon.running:
                kept.daemon.wait_ready()
        make_live(self.api, self.users)

    def _make_daemons(self):
        self.api, self.api_of_readers = (Api(self.stack, self._ports, name, [*COMMON, *OPTIONS["api"]])
                                         for name in ("api", "api-of-readers"))
        kafka = ["--kafka-properties", f"{SESSION},request.timeout.ms=500,"
                 f"delivery.timeout.ms={self.plan.patience_s * 1000}"]
        daemons = [Daemon(self.stack, self._ports, f"fanline-{role}", f"{role}-{number}",
                          [*kafka, *COMMON, *OPTIONS[role],
                           *(TIGHT[role] if self.plan.tight else [])])
                   for role, members in MEMBERS.items()
                   for number in [*range(1, members + 1), JOINING]]
        self.kept = {daemon.name: Kept(daemon, self.complaints.append)
                     for daemon in [*daemons, self.api]}
