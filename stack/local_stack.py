"""LocalStack: the services of one installation, supervised, to the end of the `with` block.

`stack.env` is all a program needs to reach them:
    FANLINE_KAFKA_BROKERS   127.0.0.1:PORT
    FANLINE_REDIS           127.0.0.1:PORT (of a cluster: all its nodes; behind Sentinels: these)
    FANLINE_REDIS_SENTINEL_MASTER   behind Sentinels: the master that they watch
    FANLINE_MYSQL_SHARDS    tcp://127.0.0.1:P1/fanline,tcp://127.0.0.1:P2/fanline
    FANLINE_MYSQL_USER, FANLINE_MYSQL_PASSWORD

A secure stack has a second door at Kafka (SASL/SCRAM over TLS) and at Redis (TLS, each node and
Sentinel), and shards that speak TLS when asked; `stack.certificates` are theirs. The harness goes on
using the plain doors.
`stack.told` is what programs are told beyond `stack.env`, or in place of it.

Of a proxied stack `stack.env` names `stack.links`, one link per service by its name (of a cluster:
per node): a test cuts, stalls and delays them (network/links.py). The services' own addresses and
clients go past them.
"""

import contextlib
import os
import secrets
import shutil
import signal
import sys
import threading
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from stack import statement_shapes, tag, watchdog
from stack.certificates import Certificates
from stack.network.links import Links
from stack.ports import Ports
from stack.process import Process
from stack.services.kafka import Kafka
from stack.services.mysql import USER, shard_class
from stack.services.redis import Redis
from stack.services.redis_cluster import RedisCluster
from stack.services.redis_sentinels import WatchedRedis
from stack.services.service import ServiceFailed
from stack.waiting import NotInTime, wait_until
from stack.workspace import BUILD, Workspace

__all__ = ["LocalStack", "NotInTime", "Process", "ServiceFailed", "wait_until"]

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KEPT_LOGS = BUILD / "stack" / "failed"


def _say_on_stderr(line):
    print(line, file=sys.stderr, flush=True)


class LocalStack:
    def __init__(self, shards=2, redis_args=(), mysql_args=(), kafka_config=None,
                 kafka_java_args=(), redis_appendonly=False, cluster=False, sentinels=False,
                 proxied=False, mysql_buffer_pool="256M", data=None, ports=None,
                 secure=False, certificate_names="IP:127.0.0.1", say=_say_on_stderr):
        """The `_args` are appended to a server's command line, `kafka_config` overrides
        server.properties. `cluster`: `redis` is a Redis Cluster (services/redis_cluster.py);
        `sentinels`: nodes that Sentinels watch (services/redis_sentinels.py). `proxied`: programs
        come through `links`. `data`: the folder to hold the stack's own (default: memory when there
        is room). `say` takes progress lines. Nothing runs before `start()` or `with`."""
        self._say = say
        self._data = data
        self._ports = ports or Ports()
        assert not (sentinels and (cluster or proxied)), "Sentinels watch one node, without links"
        self._secure = secure
        self._certificate_names = certificate_names
        self._proxied = proxied
        self.links = None
        self.certificates = None
        self.told = {}
        redis = RedisCluster if cluster else WatchedRedis if sentinels else Redis
        self._make = lambda password, workspace, ports, env, **common: (
            Kafka("kafka", workspace, ports, env, config=kafka_config, java_args=kafka_java_args,
                  **common),
            redis("redis", workspace, ports, env, appendonly=redis_appendonly, args=redis_args,
                  **common),
            [shard_class()(f"mysql{i}", workspace, ports, env, password, buffer_pool=mysql_buffer_pool,
                           args=[f"--server-id={i + 1}", *mysql_args], **common)
             for i in range(shards)])
        self.kafka = self.redis = None
        self.mysql = []
        self._spawned = []
        self._added = []
        self._workspace = self._lifeline = None

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        if kind is not None and not issubclass(kind, (KeyboardInterrupt, SystemExit)):
            self._say(f"logs of this failure: {self.keep_logs(Path(sys.argv[0]).stem)}")
        self.stop()

    def start(self):
        _leave_orderly_on(*_INTERRUPTS)
        begin = time.monotonic()
        password = secrets.token_urlsafe(24)
        try:
            # An interrupt between the folder and its watchdog would leave the folder to nobody.
            with _held_back(*_INTERRUPTS):
                self._workspace = Workspace(self._data)
                self._lifeline = watchdog.start(self._workspace)
            self._tagged = {**os.environ, tag.variable(self._workspace.id): "1"}
            if self._secure:
                self.certificates = Certificates(self._workspace.path / "certificates", self._certificate_names)
            if self._proxied:
                self.links = Links(self._workspace, self._ports, self._tagged)
            self.kafka, self.redis, self.mysql = self._make(
                password, self._workspace, self._ports, self._tagged,
                certificates=self.certificates, links=self.links)
            self._start_together()
        except BaseException:
            self.stop()
            raise
        self.env = {
            "FANLINE_KAFKA_BROKERS": self.kafka.announced,
            "FANLINE_REDIS": self.redis.announced,
            **self.redis.also_told,
            "FANLINE_MYSQL_SHARDS": ",".join(shard.uri for shard in self.mysql),
            "FANLINE_MYSQL_USER": USER,
            "FANLINE_MYSQL_PASSWORD": password,
        }
        self._say(f"stack is up after {time.monotonic() - begin:.1f} s, in {self._workspace.path}")
        return self

    @property
    def services(self):
        made = [self.kafka, self.redis, *self.mysql, *self._added]
        return [service for service in made if service]

    def add(self, make):
        """One more service, started now and stopped with the others: `make(workspace, ports, env)`.
        `stack.env` does not name it."""
        service = make(self._workspace, self._ports, self._tagged)
        self._added.append(service)
        self._start_one(service)
        return service

    @property
    def logs(self):
        """The folder of the services' and the spawned programs' logs, one file per name."""
        return self._workspace.logs

    def spawn(self, name, argv, env=None, log=None, cwd=None):
        """A program under the stack's supervision: in its own process group, with the stack's
        environment plus `env`, its output appended to `log` (default: NAME.log in the logs folder).
        It is stopped before the services are."""
        log = log or self.logs / f"{name}.log"
        process = Process(name, argv, self._program_env(env), log, cwd)
        self._spawned.append(process)
        return process

    def run(self, argv, env=None):
        """A program on our terminal and in our process group; returned while it runs."""
        process = Process(Path(argv[0]).name, argv, self._program_env(env), own_group=False,
                          stdin=None)
        self._spawned.append(process)
        return process

    def failures(self):
        """For every service that is gone though nobody stopped it, what it said last."""
        parts = self.services + ([self.links] if self._proxied else [])
        return [f"{part.name} is gone; its last words:\n{part.tail()}"
                for part in parts if part.failed]

    def keep_logs(self, name):
        """Copies the logs to a folder of that name that outlives the stack, and returns it."""
        kept = KEPT_LOGS / name
        shutil.rmtree(kept, ignore_errors=True)
        return shutil.copytree(self.logs, kept, dirs_exist_ok=True)

    def stop(self):
        """Stops everything, newest program first, the services together, and leaves nothing behind.
        Safe to call twice."""
        if self._workspace is None:
            return
        for process in reversed(self._spawned):
            process.terminate()
        with ThreadPoolExecutor() as pool:
            for service in self.services:
                pool.submit(service.stop, 8)
        if self.links:
            self.links.stop()
        tag.sweep(self._workspace.id)
        if statement_shapes.wanted():
            statement_shapes.leave(
                self._workspace.id, [shard.general_log for shard in self.mysql], USER)
        self._ports.close()
        self._workspace.remove()
        if self._lifeline is not None:
            os.close(self._lifeline)  # the watchdog has nothing left to do, and goes
        self._workspace = self._lifeline = None

    def _program_env(self, env):
        own = {name: str(value) for name, value in (env or {}).items()}
        return {**self._tagged, **self.env, **self.told, **own}

    def _start_together(self):
        with ThreadPoolExecutor(thread_name_prefix="start") as pool:
            starts = [pool.submit(self._start_one, service) for service in self.services]
            try:
                for start in wait(starts, return_when=FIRST_EXCEPTION).done:
                    start.result()
            except BaseException:
                for service in self.services:
                    service.abandon()
                raise

    def _start_one(self, service):
        service.start()
        self._say(
            f"  {service.name:<8} {service.address:<16} ready after {service.ready_after:.1f} s")


@contextlib.contextmanager
def _held_back(*signals):
    """Our thread, and what is forked meanwhile for good, takes these only afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_orderly_on(*signals):
    """Makes these end us through the `with` blocks, as Ctrl-C does, unless the program has an idea
    of its own."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in signals:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda received, _: sys.exit(128 + received))
