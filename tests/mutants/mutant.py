"""What a mutant is, and which tests may kill it."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """`find` stands in `file` exactly once and becomes `replace`."""

    name: str
    file: str
    find: str
    replace: str
    tests: tuple = ()  # names from TESTS; empty: those of the file's folder
    filter: str = ""  # of its tests, as gtest has it; empty: all of them

    def wrong(self, text):
        """Why it cannot be applied to its file's text, or None."""
        times = text.count(self.find)
        if times != 1:
            return f"{self.name}: its text stands {times} times in {self.file}, not once"
        if self.find == self.replace:
            return f"{self.name}: replaces {self.file}'s text by the same"
        return None

    def applied(self, text):
        return text.replace(self.find, self.replace)


class Test(NamedTuple):
    program: str
    services: str = ""  # the stack that it needs around it, of STACKS
    module: str = ""  # of Python: starts the programs that were built, and what they need
    arguments: tuple = ()
    environment: dict = {}


# What LocalStack is told.
STACKS = {"plain": {}, "cluster": {"cluster": True, "shards": 0}}

# The simulation's seeds are given, so that a mutant meets the same schedules each time.
TESTS = {
    name: Test(name) for name in (
        "fanline_test", "consuming_test", "daemon_test", "kafka_adapter_test", "mysql_adapter_test",
        "redis_adapter_test", "services_test", "mirror_test", "relations_test", "api_parts_test",
        "wiring_test", "http_test", "feedctl_parts_test", "backend_options_test", "audit_test")
} | {
    name: Test(name, services="plain") for name in ("kafka_test", "mysql_integration_test",
                                                    "redis_test")
} | {
    "redis_cluster_test": Test("redis_cluster_test", services="cluster"),
    "e2e.migrate_test": Test("later_feedctl", module="tests.e2e.migrate_test"),
    "fleet_sim": Test("fleet_sim", arguments=("--gtest_filter=Fleet.*",),
                      environment={"FANLINE_SIM_SCHEDULES": "150",
                                   "FANLINE_SIM_FIRST_SEED": "1"}),
}

# Where a folder's mutants are looked for, cheapest first. The longest name that fits counts.
TESTS_OF = {
    "fanline/": ("fanline_test", "services_test", "mirror_test", "relations_test"),
    "fanline/consuming/": ("consuming_test", "services_test", "mirror_test", "relations_test"),
    "daemon/": ("daemon_test",),
    "dispatcher/": ("services_test", "fleet_sim"),
    "pusher/": ("services_test", "fleet_sim"),
    "timeline/": ("services_test", "fleet_sim"),
    "mirror/": ("mirror_test", "fleet_sim"),
    "reconciler/": ("relations_test", "fleet_sim"),
    "audit/": ("audit_test",),
    "api/": ("api_parts_test",),
    "http/": ("http_test",),
    "feedctl/": ("feedctl_parts_test",),
    "backends/kafka/": ("kafka_adapter_test", "kafka_test"),
    "backends/options/": ("backend_options_test",),
    "backends/mysql/": ("mysql_adapter_test", "mysql_integration_test"),
    "backends/redis/": ("redis_adapter_test", "redis_test"),
    "backends/redis/cluster/": ("redis_adapter_test", "redis_cluster_test"),
    "backends/wiring/": ("wiring_test",),
    "schemas/redis/": ("redis_test",),
    "schemas/sql/": ("mysql_integration_test",),
}


def tests_for(mutant):
    if mutant.tests:
        return mutant.tests
    folders = [folder for folder in TESTS_OF if mutant.file.startswith(folder)]
    return TESTS_OF[max(folders, key=len)]
