"""One node of Redis or Valkey, as Fanline wants it: noeviction (under allkeys-* the fence itself could
be evicted) and timelines as listpacks. FANLINE_STACK_REDIS says which of the two, and also in a Cluster
and behind Sentinels: redis (the default) or valkey, which comes from Debian unstable (stack/unstable)."""

import os

from stack.services.service import Service, ServiceFailed
from stack.wire.redis import RedisClient, RedisError
from stack.workspace import BUILD

_WHICH = "FANLINE_STACK_REDIS"
# What makes the programs. Debian's redis-tools carries Redis' server too, which looks at the name it is
# called by: stack/setup makes the link.
_MADE_BY = {"redis": "make setup", "valkey": "stack/unstable"}


def server():
    """The program."""
    wanted = os.environ.get(_WHICH) or "redis"
    if wanted not in _MADE_BY:
        raise ServiceFailed(f"{_WHICH} is {wanted}; it may be {' or '.join(_MADE_BY)}")
    program = BUILD / "tools" / f"{wanted}-server"
    if not program.exists():
        raise ServiceFailed(f"{program} is missing: run `{_MADE_BY[wanted]}`")
    return program


def tls_args(port, certificates):
    """Nodes speak TLS among themselves, too; clients need no certificate of their own."""
    return ["--tls-port", port, "--tls-cert-file", certificates.certificate,
            "--tls-key-file", certificates.key, "--tls-ca-cert-file", certificates.authority,
            "--tls-auth-clients", "no", "--tls-replication", "yes"]


class Redis(Service):
    also_told = {}  # what programs must know besides its address

    def __init__(self, name, workspace, ports, env, appendonly=False, args=(), certificates=None,
                 links=None):
        super().__init__(name, workspace, ports, env, links)
        self.appendonly = appendonly  # from its next start on
        self._args = list(args)
        self._certificates = certificates
        if certificates:
            self.ports_wanted += 1  # the last is the door with TLS

    @property
    def tls_port(self):
        return self._taken[-1]

    @property
    def tls_address(self):
        return f"127.0.0.1:{self.tls_port}"

    @property
    def peers_port(self):
        """Where other nodes reach it: they speak TLS when it does."""
        return self.tls_port if self._certificates else self.port

    def start_with(self, args):
        """Starts it with these besides its own, this time."""
        own = self._args
        self._args = own + args
        try:
            return self.start()
        finally:
            self._args = own

    def prepare(self):
        pass

    def argv(self):
        return [
            server(), "--port", self.port, "--bind", "127.0.0.1", "--dir", self.data,
            "--save", "", "--appendonly", "yes" if self.appendonly else "no",
            "--maxmemory-policy", "noeviction", "--zset-max-listpack-entries", "512",
        ] + self._tls_args() + self._args

    def _tls_args(self):
        if not self._certificates:
            return []
        return tls_args(self.tls_port, self._certificates)

    def answers(self):
        try:
            # The answer must be ours: another's Redis may have taken the port a moment before.
            return f"process_id:{self.pid}\r\n" in self.command("INFO", "server")
        except RedisError as error:
            if str(error).startswith("LOADING"):
                return False
            raise

    @property
    def nodes(self):
        """As of a cluster: it is its only node and master."""
        return [self]

    def masters(self):
        return [self]

    def command(self, *words):
        """One command, its reply as Python values; for more than a few open `client()`."""
        with self.client() as client:
            return client.command(*words)

    def client(self):
        return RedisClient(self.port)
