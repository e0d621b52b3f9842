"""One server of MariaDB or MySQL = one shard. FANLINE_STACK_SQL says which: mariadb (the default) or
mysql, which comes from Debian unstable (stack/unstable).

Two accounts with one generated password: `fanline`, which may do all in its own database and
nothing elsewhere, so that a program that needs more fails here first; and `admin` for the harness
and for faults (kill a connection, set a global). Root has no password and no way in but the socket
in a folder only its owner can open.

    replica = stack.add(shard.replica)  # of all that is changed from now on
    shard.hand_over_to(replica)         # a planned switch; the shard stays up, read-only
    shard.keep()                        # what a replica would have that gets no more from now on
    shard.fall_back()                   # it takes over, at the same address
"""

import contextlib
import os
import shutil

from stack import statement_shapes
from stack.services.service import Service, ServiceFailed
from stack.wire.mysql import MysqlClient, MysqlError
from stack.workspace import BUILD

USER, DATABASE = "fanline", "fanline"
BINLOG = "--log-bin=binlog", "--binlog-format=ROW"  # arguments of a server that is replicated, or listened to
_ADMIN = "admin"
_WHICH = "FANLINE_STACK_SQL"


def shard_class():
    """Of the server that FANLINE_STACK_SQL names."""
    wanted = os.environ.get(_WHICH) or MariaDb.kind
    for each in (MariaDb, Mysql):
        if each.kind == wanted:
            return each
    raise ServiceFailed(f"{_WHICH} is {wanted}; it may be {MariaDb.kind} or {Mysql.kind}")


class _Shard(Service):
    """A subclass gives what differs: how its data is made (`prepare`), `server()`, which is its program
    with the options of it alone, and how a replica follows."""

    def __init__(self, name, workspace, ports, env, password, buffer_pool="256M", args=(),
                 certificates=None, links=None, primary=None):
        super().__init__(name, workspace, ports, env, links)
        self._password = password
        self._buffer_pool = buffer_pool
        self.args = list(args)  # a change counts from the next start on
        self._primary = primary  # of a replica
        if certificates:
            self.args += [f"--ssl-ca={certificates.authority}", f"--ssl-cert={certificates.certificate}",
                          f"--ssl-key={certificates.key}"]
        self._accounts = workspace.path / f"{name}.accounts.sql"
        # A starting server removes the temporary tables it finds, also those of a server that
        # uses them: two that share a folder crash each other now and then.
        self._tmp = workspace.path / f"{name}.tmp"
        self.general_log = workspace.path / f"{name}.statements"  # see statement_shapes

    @property
    def uri(self):
        """What programs are told."""
        return f"tcp://{self.announced}/{DATABASE}"

    def prepare(self):
        self._tmp.mkdir()
        with open(os.open(self._accounts, os.O_CREAT | os.O_WRONLY, 0o600), "w") as accounts:
            accounts.write(_accounts_sql(self._password))

    def argv(self):
        return self.server() + _as_user() + [
            f"--datadir={self.data}", f"--tmpdir={self._tmp}", "--socket=mysql.sock",
            f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-name-resolve",
            f"--init-file={self._accounts}",  # run before the first connection is taken
            "--max-connections=200", "--character-set-server=utf8mb4", "--local-infile=ON",
            f"--innodb-buffer-pool-size={self._buffer_pool}",
            # Survives kill -9 of the server; only a power cut could lose the last second.
            "--innodb-flush-log-at-trx-commit=2",
            "--skip-log-bin",
        ] + self._general_log() + self.args

    def _general_log(self):
        if not statement_shapes.wanted():
            return []
        return ["--general-log", f"--general-log-file={self.general_log}"]

    def answers(self):
        return self.query("SELECT 1") == [("1",)]

    def query(self, sql):
        """One statement as admin; for more than a few open `client()`."""
        with self.client() as client:
            return client.query(sql)

    def let_read_binlog(self, may=True):
        """Gives the programs' account what the mirror mode `log` needs, or takes it away."""
        give, to = ("GRANT", "TO") if may else ("REVOKE", "FROM")
        self.query(f"{give} REPLICATION SLAVE, REPLICATION CLIENT ON *.* {to} {USER}@127.0.0.1")

    def kill_connections(self, user):
        for number, name, *_ in self.query("SHOW PROCESSLIST"):
            if name == user:
                with contextlib.suppress(MysqlError):  # gone by itself
                    self.query(f"KILL {number}")

    # ---- replication: of a server that keeps a binary log since its first start -----------------

    def replica(self, workspace, ports, env):
        """One that has all its changes from the first on, and takes none of others."""
        number = int(self.query("SELECT @@server_id")[0][0])
        return type(self)(f"{self.name}_replica", workspace, ports, env, self._password,
                          buffer_pool=self._buffer_pool, primary=self,
                          args=[f"--server-id={100 + number}", "--read-only=ON"])

    def start(self):
        super().start()
        if self._primary:
            self.query(self.follow.format(port=self._primary.port, user=_ADMIN, password=self._password))
            self.query("START REPLICA")
        return self

    def written(self):
        """How far this server's binary log goes."""
        return self.query(f"SELECT {self.logged}")[0][0]

    def applied(self):
        """How far this replica is in its primary's."""
        return self.query(f"SELECT {self.followed}")[0][0]

    def hand_over_to(self, replica, within=30):
        """Takes no writes any more, and the replica does once it has all there were. Who is
        connected here stays so. Answers how far it was written."""
        self.query("SET GLOBAL read_only = ON")
        end = self.written()
        if replica.query(f"SELECT {self.wait_for}('{end}', {within})") != [("0",)]:
            raise ServiceFailed(f"{replica.name} is not at {end} after {within} s:\n"
                                f"{replica.tail()}")
        replica.promote()
        return end

    def promote(self):
        """Follows no primary any more, and takes writes."""
        self.query("STOP REPLICA")
        self.query("SET GLOBAL read_only = OFF")

    # ---- without a binary log: the data of a replica that was behind -----------------------------

    @property
    def _kept(self):
        return self.data.with_name(f"{self.name}.kept")

    def keep(self):
        """Copies the data as it is now. The shard is away meanwhile."""
        self.stop()
        shutil.copytree(self.data, self._kept)
        self.start()

    def fall_back(self):
        """Dies by SIGKILL, and is there again with the data that was kept: all since then is lost."""
        self.kill()
        shutil.rmtree(self.data)
        self._kept.rename(self.data)
        self.start()

    def client(self):
        return MysqlClient(self.port, _ADMIN, self._password, DATABASE)


class MariaDb(_Shard):
    kind = "mariadb"
    called = None  # set, and from its next start on it says it is this version
    logged, followed, wait_for = "@@gtid_binlog_pos", "@@gtid_slave_pos", "MASTER_GTID_WAIT"
    follow = ("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = '{user}', "
              "MASTER_PASSWORD = '{password}', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1")

    def prepare(self):
        super().prepare()
        self._run_to_end([
            "/usr/bin/mariadb-install-db", "--no-defaults", *_as_user(), f"--datadir={self.data}",
            f"--tmpdir={self._tmp}", "--skip-test-db"])

    def server(self):
        return ["/usr/sbin/mariadbd", "--no-defaults", "--innodb-log-file-size=64M",
                *([f"--version={self.called}"] if self.called else [])]


class Mysql(_Shard):
    kind = "mysql"
    logged = followed = "@@global.gtid_executed"
    wait_for = "WAIT_FOR_EXECUTED_GTID_SET"
    # The key encrypts the password: without it the account asks for TLS.
    follow = ("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, "
              "SOURCE_USER = '{user}', SOURCE_PASSWORD = '{password}', SOURCE_AUTO_POSITION = 1, "
              "SOURCE_CONNECT_RETRY = 1, GET_SOURCE_PUBLIC_KEY = 1")
    _PROGRAM, _EMPTY = BUILD / "tools" / "mysqld", BUILD / "tools" / "mysql-data"

    def prepare(self):
        if not self._PROGRAM.exists():
            raise ServiceFailed(f"{self._PROGRAM} is missing: run stack/unstable")
        super().prepare()
        with open(self._accounts, "a", encoding="utf-8") as accounts:
            # With it, `fanline` could not replace a procedure that this account made.
            accounts.write(f"REVOKE SYSTEM_USER ON *.* FROM {_ADMIN}@127.0.0.1;\n")
        shutil.copytree(self._EMPTY, self.data, dirs_exist_ok=True)

    def server(self):
        return [self._PROGRAM, "--innodb-redo-log-capacity=64M",
                "--performance-schema=OFF",  # 250 MB; MariaDB has none, either
                "--gtid-mode=ON", "--enforce-gtid-consistency=ON",
                "--information-schema-stats-expiry=0"]  # tests ask for the next id of log1


def _as_user():
    return ["--user=root"] if os.getuid() == 0 else []


def _accounts_sql(password):
    return f"""CREATE DATABASE IF NOT EXISTS {DATABASE};
CREATE USER IF NOT EXISTS {USER}@127.0.0.1 IDENTIFIED BY '{password}';
GRANT ALL ON {DATABASE}.* TO {USER}@127.0.0.1;
CREATE USER IF NOT EXISTS {_ADMIN}@127.0.0.1 IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO {_ADMIN}@127.0.0.1 WITH GRANT OPTION;
"""
