"""One MariaDB server = one shard.

Two accounts with one generated password: `fanline`, which may do all in its own database and
nothing elsewhere, so that a program that needs more fails here first; and `admin` for the harness
and for faults (kill a connection, set a global). Root has no password and no way in but the socket
in a folder only its owner can open.
"""

import os

from stack import statement_shapes
from stack.services.service import Service
from stack.wire.mysql import MysqlClient

USER, DATABASE = "fanline", "fanline"
_ADMIN = "admin"


class Mysql(Service):
    def __init__(self, name, workspace, ports, env, password, buffer_pool="256M", args=(),
                 certificates=None, links=None):
        super().__init__(name, workspace, ports, env, links)
        self._password = password
        self._buffer_pool = buffer_pool
        self._args = list(args)
        if certificates:
            self._args += [f"--ssl-ca={certificates.authority}",
                           f"--ssl-cert={certificates.certificate}",
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
        self._run_to_end([
            "/usr/bin/mariadb-install-db", "--no-defaults", *_as_user(), f"--datadir={self.data}",
            f"--tmpdir={self._tmp}", "--skip-test-db"])
        with open(os.open(self._accounts, os.O_CREAT | os.O_WRONLY, 0o600), "w") as accounts:
            accounts.write(_accounts_sql(self._password))

    def argv(self):
        return [
            "/usr/sbin/mariadbd", "--no-defaults", *_as_user(),
            f"--datadir={self.data}", f"--tmpdir={self._tmp}", "--socket=mysql.sock",
            f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-name-resolve",
            f"--init-file={self._accounts}",  # run before the first connection is taken
            "--max-connections=200", "--character-set-server=utf8mb4", "--local-infile=ON",
            f"--innodb-buffer-pool-size={self._buffer_pool}", "--innodb-log-file-size=64M",
            # Survives kill -9 of the server; only a power cut could lose the last second.
            "--innodb-flush-log-at-trx-commit=2",
            "--skip-log-bin",
        ] + self._general_log() + self._args

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

    def client(self):
        return MysqlClient(self.port, _ADMIN, self._password, DATABASE)


def _as_user():
    return ["--user=root"] if os.getuid() == 0 else []


def _accounts_sql(password):
    return f"""CREATE DATABASE IF NOT EXISTS {DATABASE};
CREATE USER IF NOT EXISTS {USER}@127.0.0.1 IDENTIFIED BY '{password}';
GRANT ALL ON {DATABASE}.* TO {USER}@127.0.0.1;
CREATE USER IF NOT EXISTS {_ADMIN}@127.0.0.1 IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO {_ADMIN}@127.0.0.1 WITH GRANT OPTION;
"""
