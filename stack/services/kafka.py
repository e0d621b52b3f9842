"""One Kafka broker that is its own controller (KRaft). Programs create the topics they need;
none is created by accident."""

import base64
import uuid

from stack.services.service import Service, ServiceFailed
from stack.wire.kafka import Cluster, allow_scram, ask_cluster, set_scram_password
from stack.workspace import BUILD

LIBS = BUILD / "kafka-libs"
CLASSES = LIBS / "classes.jsa"  # of stack/kafka/warm_up.py; one of another Java is ignored

# A quick start and stop are worth more here than heap or compiled code.
_JAVA = ["/usr/bin/java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
         "-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.showDateTime=true"]


class Kafka(Service):
    # Clients, controller; of a secure one also clients that show who they are, of one behind a link
    # also those that come through it.
    ports_wanted = 2

    def __init__(self, name, workspace, ports, env, config=None, java_args=(), certificates=None,
                 links=None):
        super().__init__(name, workspace, ports, env, links)
        assert not (certificates and links is not None), "the door that asks has no link"
        self._config = config or {}
        self._certificates = certificates
        if certificates or links is not None:
            self.ports_wanted = 3
        self._java_args = list(java_args)
        self._cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self._properties = workspace.path / f"{name}.properties"

    def prepare(self):
        if not (LIBS / "stamp").exists():
            raise ServiceFailed(f"{LIBS} is missing: run `make setup`")
        # What `StorageTool format` leaves, without the second a JVM takes to write it.
        (self.data / "meta.properties").write_text(
            f"version=1\ncluster.id={self._cluster}\nnode.id=1\n")

    def argv(self):
        self._properties.write_text(
            "".join(f"{key}={value}\n" for key, value in self._settings().items()))
        classes = [f"-XX:SharedArchiveFile={CLASSES}"] if CLASSES.exists() else []
        main = ["-cp", f"{LIBS}/*", "kafka.Kafka", self._properties]
        return _JAVA + classes + self._java_args + main

    def answers(self):
        cluster = ask_cluster(self.port)
        # The answer must be ours: another's broker may have taken the port a moment before.
        return cluster == Cluster(id=self._cluster, brokers=1, controller=1)

    def _settings(self):
        port, controller = self._taken[:2]
        return {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "log.dirs": self.data,
            "auto.create.topics.enable": "false",
            # One broker holds every replica there is.
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            # Tests lose group members on purpose and should not wait for others.
            "offsets.topic.num.partitions": 4,
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 1000,
            # Killed and started again, it waits for its former self's session to end (else 9 s).
            "broker.session.timeout.ms": 3000,
            "broker.heartbeat.interval.ms": 500,
            "log.cleaner.dedupe.buffer.size": 4 << 20,
            "num.network.threads": 2,
            "num.io.threads": 4,
        } | self._door() | self._config

    @property
    def linked_port(self):
        return self._taken[-1]  # a listener of its own, for it tells its clients where to come

    @property
    def sasl_address(self):
        """Where it asks for a name and a password (SCRAM-SHA-512) over TLS."""
        return f"127.0.0.1:{self._taken[2]}"

    def set_password(self, user, password):
        """Creates the user, or changes its password: open connections stay."""
        allow_scram(self.port)
        set_scram_password(self.port, user, password)

    def _door(self):
        port, controller = self._taken[:2]
        plain, own = f"PLAINTEXT://127.0.0.1:{port}", f"CONTROLLER://127.0.0.1:{controller}"
        if self._links is not None:
            return {
                "listeners": f"{plain},LINK://127.0.0.1:{self.linked_port},{own}",
                "advertised.listeners": f"{plain},LINK://{self.announced}",
                "listener.security.protocol.map":
                    "PLAINTEXT:PLAINTEXT,LINK:PLAINTEXT,CONTROLLER:PLAINTEXT",
            }
        if not self._certificates:
            return {}
        sasl = f"SASL_SSL://{self.sasl_address}"
        login = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        return {
            "listeners": f"{plain},{sasl},{own}",
            "advertised.listeners": f"{plain},{sasl}",
            "listener.security.protocol.map":
                "PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT",
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": login,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": self._certificates.both,
        }
