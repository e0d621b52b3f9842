"""The Debian packages in a Debian without anything else of ours: installed, configured, run as their units say,
removed and purged. systemd itself does not run here: what it would do with a unit is asked of systemd-analyze, and
its end of the notification protocol is the test's."""

import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

from stack.local_stack import LocalStack, wait_until
from stack.notify import NotifySocket
from stack.ports import Ports
from stack.programs import BIN
from tests.packaging.root import Root

ROOT = Path(__file__).resolve().parents[2]
DEBIAN = ROOT / "build" / "tools" / "debian.tar"
PACKAGES = BIN.parent / "packages"
ROLES = ("dispatcher", "pusher", "mirror", "reconciler", "api")
UNITS = [f"fanline-{role}.service" for role in ROLES]
PATH = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
MOST_EXPOSED = 1.5  # of 10, by systemd-analyze security: "OK" begins at 2
# What dpkg keeps of what it has done, and of the file before a change.
JOURNALS = re.compile(r"^(var/lib/dpkg/(status|available|lock|triggers|diversions|statoverride)|var/log/|var/cache/|"
                      r"etc/(passwd|group|shadow|gshadow|subuid|subgid)-$|etc/\.pwd\.lock$|proc/|run/|tmp/)")


def files(root):
    """Path -> what it is, of every file and folder."""
    found = {}
    for folder, folders, names in os.walk(root):
        for name in folders + names:
            path = Path(folder, name)
            inside = path.relative_to(root).as_posix()
            if JOURNALS.match(inside + ("/" if name in folders else "")) or JOURNALS.match(inside):
                continue
            told = path.lstat()
            content = os.readlink(path) if path.is_symlink() else ""
            if stat.S_ISREG(told.st_mode):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[inside] = (stat.filemode(told.st_mode), told.st_uid, told.st_gid, content)
    return found


def read_unit(path):
    """{section: {key: [values]}}."""
    sections = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), {})
        elif "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            current.setdefault(key, []).append(value)
    return sections


def seconds(text):
    return float(text.removesuffix("s"))


class Package(unittest.TestCase):
    """One installation's life, in the order of the methods' names."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        assert DEBIAN.exists(), f"{DEBIAN} is missing: run packaging/setup"
        folder = Path(tempfile.mkdtemp(prefix="fanline-debian-", dir=ROOT / "build"))
        cls.addClassCleanup(shutil.rmtree, folder)
        subprocess.run(["tar", "-C", folder, "-xf", DEBIAN, "--exclude=./dev/*"], check=True)
        for name, minor in (("null", 3), ("urandom", 9)):
            os.mknod(folder / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            (folder / "dev" / name).chmod(0o666)
        cls.folder, cls.root = folder, Root(folder)
        cls.before = files(folder)
        debs = sorted(PACKAGES.glob("*.deb"))
        assert [deb.name.split("_")[0] for deb in debs] == ["fanline", "feedctl"], f"run make packages: {debs}"
        for deb in debs:
            shutil.copy(deb, folder / "tmp")
        cls.debs = [f"/tmp/{deb.name}" for deb in debs]
        cls.older = [cls.repacked(deb, folder) for deb in debs]

    @staticmethod
    def repacked(deb, folder):
        """The same package with a lower version, and another line in one configuration."""
        with tempfile.TemporaryDirectory() as parts:
            subprocess.run(["dpkg-deb", "--raw-extract", deb, parts], check=True)
            control = Path(parts, "DEBIAN", "control")
            control.write_text(re.sub(r"(?m)^Version: .*", "Version: 0.0.1", control.read_text(encoding="utf-8")), encoding="utf-8")
            for conf in Path(parts).glob("etc/fanline/mirror/mirror.conf"):
                conf.write_text(conf.read_text(encoding="utf-8") + "# of before\n", encoding="utf-8")
            older = f"/tmp/older-{deb.name}"
            subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "--build", parts, f"{folder}{older}"], check=True,
                           stdout=subprocess.DEVNULL)
        return older

    def dpkg(self, *words):
        return self.root.run("/usr/bin/dpkg", *words, environment=PATH)[1]

    def unit(self, role):
        return read_unit(self.folder / "usr/lib/systemd/system" / f"fanline-{role}.service")

    def test_1_installs_with_what_debian_has_and_starts_nothing(self):
        _, said = self.root.run("/usr/bin/dpkg", "--install", *self.debs, environment=PATH)
        print(said)
        _, said = self.root.run("/usr/bin/dpkg", "--audit", environment=PATH)
        self.assertEqual(said, "")
        for role in ROLES:
            self.assertFalse(list(self.folder.glob(f"etc/systemd/system/*/fanline-{role}.service")), role)
            self.assertEqual(self.root.run(f"/usr/bin/fanline-{role}", "--version", environment=PATH)[0], 0)
        for secret in ("secrets", "tls"):
            told = (self.folder / "etc/fanline" / secret).stat()
            self.assertEqual((stat.S_IMODE(told.st_mode), told.st_uid, told.st_gid), (0o750, 0, self.fanline()[1]))

    def fanline(self):
        """(uid, gid) of the user that the package made."""
        for line in (self.folder / "etc/passwd").read_text(encoding="utf-8").splitlines():
            name, _, uid, gid, _, home, shell = line.split(":")
            if name == "fanline":
                self.assertEqual((home, shell), ("/nonexistent", "/usr/sbin/nologin"))
                return int(uid), int(gid)
        raise AssertionError("there is no user fanline")

    def test_1_what_programs_load_is_what_packages_depend_on(self):
        for package, programs in (("fanline", [f"fanline-{role}" for role in ROLES]), ("feedctl", ["feedctl"])):
            depends = self.root.run("/usr/bin/dpkg-query", "-W", "-f", "${Depends}", package, environment=PATH)[1]
            named = {each.split()[0].split(":")[0] for each in re.split(r"[,|]", depends)}
            loaded = {}
            for program in programs:
                said = subprocess.run(["readelf", "-d", self.folder / "usr/bin" / program], capture_output=True, text=True, check=True)
                for library in re.findall(r"\(NEEDED\).*\[(.+)\]", said.stdout):
                    loaded[library] = {line.split(":")[0] for line in self.dpkg("--search", f"*/{library}").splitlines()}
            self.assertGreater(len(loaded), 5)
            lacks = {library: owners for library, owners in loaded.items() if not owners & named}
            self.assertEqual(lacks, {}, depends)
            print(f"{package}: {len(loaded)} libraries, of {len(named)} packages")

    def test_1_pages_that_feedctl_names_are_there(self):
        nowhere = ["--mysql-shards", "tcp://127.0.0.1:1/feed", "--redis", "127.0.0.1:1", "--kafka-brokers", "127.0.0.1:1"]
        code, said = self.root.run("/usr/bin/feedctl", "doctor", *nowhere, environment=PATH, check=False)
        self.assertEqual(code, 69, said)
        pages = re.findall(r"(\S+/runbooks/\w+\.md)#\w+", said)
        self.assertTrue(pages, said)
        for page in pages:
            self.assertTrue((self.folder / page.lstrip("/")).is_file(), page)
            self.assertTrue(page.startswith("/usr/share/doc/feedctl/"), page)

    def test_2_systemd_takes_the_units_and_finds_little_to_say(self):
        done = subprocess.run(["systemd-analyze", f"--root={self.folder}", "--man=no", "verify", *UNITS],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for unit in UNITS:
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", f"--root={self.folder}", unit],
                                  capture_output=True, text=True, check=True)
            exposed = float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)[1])
            print(f"systemd-analyze security {unit}: {exposed} of 10")
            self.assertLessEqual(exposed, MOST_EXPOSED)

    def test_3_units_wait_as_long_as_their_daemons_may_take(self):
        roles = yaml.safe_load((ROOT / "helm/fanline/files/roles.yaml").read_text(encoding="utf-8"))
        self.assertEqual(set(roles), set(ROLES))
        for role in ROLES:
            service = self.unit(role)["Service"]
            drain, stall = (self.default_of(role, option) for option in ("drain-limit", "stall-limit"))
            self.assertEqual(seconds(service["TimeoutStopSec"][0]), drain + 10)
            self.assertGreater(seconds(service["WatchdogSec"][0]), stall)
            self.assertEqual(service["Type"], ["notify"])
            conf = (self.folder / f"etc/fanline/{role}/{role}.conf").read_text(encoding="utf-8")
            self.assertIn(f'admin-listen = "127.0.0.1:{roles[role]["adminPort"]}"', conf)
            self.assertEqual({need for need in ("kafka", "redis", "mysql") if f"# {NAMES[need]}:" in conf or f"# {NAMES[need]}\n" in conf},
                             set(roles[role]["needs"]))

    def default_of(self, role, option):
        _, said = self.root.run(f"/usr/bin/fanline-{role}", "--help", environment=PATH)
        return seconds(re.search(rf"--{option} .*?default (\S+)", said, re.S)[1])

    def test_4_every_line_of_a_configuration_is_understood(self):
        """Also those that are comments until somebody needs them."""
        pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        for service in ("kafka", "redis", "mysql"):
            for path, text in ((f"secrets/{service}/password", "secret\n"), (f"tls/{service}/ca.crt", pem)):
                file = self.folder / "etc/fanline" / path
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, encoding="utf-8")
        for role in ROLES:
            conf = self.folder / f"etc/fanline/{role}/{role}.conf"
            whole = re.sub(r"^#(?=\S+ = )", "", conf.read_text(encoding="utf-8"), flags=re.M)
            (self.folder / "tmp/whole.conf").write_text(whole, encoding="utf-8")
            code, said = self.root.run(f"/usr/bin/fanline-{role}", "--check-config", "--config", "/tmp/whole.conf",
                                       user="fanline:fanline", environment=PATH, check=False)
            self.assertEqual(code, 0, said)

    def test_5_runs_as_its_units_say(self):
        stack = LocalStack(say=lambda line: None)
        self.addCleanup(stack.stop)
        stack.start()
        told = {**PATH, **stack.env}
        self.root.run("/usr/bin/feedctl", "init", environment=told)
        self.root.run("/usr/bin/feedctl", "topics", "create", environment=told)
        ports = Ports()
        self.addCleanup(ports.close)
        password = self.folder / "etc/fanline/secrets/mysql/password"
        password.write_text(stack.env["FANLINE_MYSQL_PASSWORD"], encoding="utf-8")
        for path in (password.parent, password):
            os.chown(path, 0, self.fanline()[1])
            path.chmod(0o750)
        (self.folder / "run/supervisors").mkdir(exist_ok=True)
        started = {role: self.start(stack, ports, role) for role in ROLES}
        for role, (process, supervisor) in started.items():
            wait_until(lambda s=supervisor, p=process: s.said("READY") or not p.running, 60, f"{role} to be ready")
            self.assertTrue(process.running, process.output())
            supervisor.wait_for("STATUS", "ready")
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            self.assertIn(f"Uid:\t{self.fanline()[0]}\t", status, role)
            self.assertIn("CapEff:\t0000000000000000", status)
        for role, (process, supervisor) in started.items():
            process.terminate(30)
            self.assertEqual(process.exit_code, 0, process.tail())
            self.assertEqual(supervisor.said("STOPPING"), ["1"])
            print(f"fanline-{role}: WATCHDOG=1 {len(supervisor.said('WATCHDOG'))} times; drained")
            self.assertGreater(len(supervisor.said("WATCHDOG")), 0)

    def start(self, stack, ports, role):
        """As systemd would, with the addresses of this stack at the end of the configuration."""
        conf = self.folder / f"etc/fanline/{role}/{role}.conf"
        text = re.sub(r'^(admin-listen|listen) = .*', lambda found: f'{found[1]} = "127.0.0.1:{ports.take()}"',
                      conf.read_text(encoding="utf-8"), flags=re.M)
        options = {"kafka-brokers": stack.env["FANLINE_KAFKA_BROKERS"], "redis": stack.env["FANLINE_REDIS"],
                   "mysql-shards": stack.env["FANLINE_MYSQL_SHARDS"], "mysql-user": stack.env["FANLINE_MYSQL_USER"],
                   "mysql-password-file": "/etc/fanline/secrets/mysql/password"}
        known = re.findall(r"^#(\S+) = ", text, flags=re.M)
        conf.write_text(text + "".join(f'{name} = "{value}"\n' for name, value in options.items() if name in known),
                        encoding="utf-8")
        supervisor = NotifySocket(self.folder / "run/supervisors" / role)
        self.addCleanup(supervisor.close)
        service = self.unit(role)["Service"]
        environment = dict(each.split("=", 1) for each in service["Environment"])
        watchdog = supervisor.environment(seconds(service["WatchdogSec"][0]))
        watchdog["NOTIFY_SOCKET"] = f"/run/supervisors/{role}"
        argv = self.root.argv(service["ExecStart"][0].split(), user=f"{service['User'][0]}:{service['Group'][0]}",
                              environment={**PATH, **environment, **watchdog}, read_only=True)
        return stack.spawn(role, argv), supervisor

    def test_6_a_removal_leaves_the_configuration_and_a_purge_nothing(self):
        self.root.run("/usr/bin/systemctl", "enable", *UNITS, environment=PATH)
        self.assertTrue((self.folder / "etc/systemd/system/multi-user.target.wants/fanline-pusher.service").is_symlink())
        self.root.run("/usr/bin/dpkg", "--remove", "feedctl", "fanline", environment=PATH)
        self.assertFalse(list(self.folder.glob("usr/bin/f*line*")) + list(self.folder.glob("etc/systemd/system/*/fanline*")))
        self.assertTrue((self.folder / "etc/fanline/pusher/pusher.conf").is_file())
        self.purge()
        after = self.assert_as_before()
        print(f"{len(after):,} files and folders are as they were")

    def purge(self):
        self.dpkg("--purge", "feedctl", "fanline")

    def assert_as_before(self):
        after = files(self.folder)
        changed = {path for path in {*self.before, *after} if self.before.get(path) != after.get(path)}
        self.assertEqual(changed, set())
        return after

    def version(self):
        return self.root.run("/usr/bin/dpkg-query", "-W", "-f", "${Version}", "fanline", environment=PATH)[1]

    def test_7_an_upgrade_keeps_what_is_ours_and_restarts_nothing(self):
        self.dpkg("--install", *self.older)
        self.assertEqual(self.version(), "0.0.1")
        uid = self.fanline()
        pusher, mirror = (self.folder / f"etc/fanline/{role}/{role}.conf" for role in ("pusher", "mirror"))
        self.assertIn("# of before", mirror.read_text(encoding="utf-8"))
        pusher.write_text(pusher.read_text(encoding="utf-8") + 'log-level = "debug"\n', encoding="utf-8")
        secret = self.folder / "etc/fanline/secrets/redis"
        secret.write_text("secret", encoding="utf-8")
        self.root.run("/usr/bin/systemctl", "enable", UNITS[1], environment=PATH)
        self.dpkg("--install", *self.debs)
        self.assertNotEqual(self.version(), "0.0.1")
        self.assertEqual(self.dpkg("--audit"), "")
        self.assertEqual(self.fanline(), uid)
        self.assertIn('log-level = "debug"', pusher.read_text(encoding="utf-8"))
        self.assertNotIn("# of before", mirror.read_text(encoding="utf-8"))
        self.assertEqual(secret.read_text(encoding="utf-8"), "secret")
        wanted = self.folder / "etc/systemd/system/multi-user.target.wants"
        self.assertEqual([path.name for path in wanted.glob("fanline*")], [UNITS[1]])
        self.purge()
        self.assert_as_before()

    def test_8_a_user_who_was_there_before_stays(self):
        self.root.run("/usr/sbin/useradd", "--system", "--home-dir", "/srv/fanline", "fanline", environment=PATH)
        there = (self.folder / "etc/passwd").read_text(encoding="utf-8")
        self.dpkg("--install", *self.debs)
        self.assertEqual((self.folder / "etc/passwd").read_text(encoding="utf-8"), there)
        gid = int(re.search(r"(?m)^fanline:[^:]*:(\d+):", (self.folder / "etc/group").read_text(encoding="utf-8"))[1])
        self.assertEqual((self.folder / "etc/fanline/secrets").stat().st_gid, gid)
        self.purge()
        self.assertEqual((self.folder / "etc/passwd").read_text(encoding="utf-8"), there)
        self.root.run("/usr/sbin/userdel", "fanline", environment=PATH)
        self.assert_as_before()


NAMES = {"kafka": "Kafka", "redis": "Redis", "mysql": "MariaDB or MySQL"}
