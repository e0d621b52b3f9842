"""Probes as the chart sets them, while stores hang. Who can serve somebody stays in the Service."""

import threading
import time
import unittest

from tests.e2e.meanwhile import long
from tests.e2e.reading import Reading
from tests.e2e.relations import shard_of
from tests.helm.chart import ci_values, objects

READERS, AUTHORS = range(1, 21), range(101, 106)


def probe_of(role):
    """readinessProbe of the role's rendered Deployment, with Kubernetes' own defaults."""
    deployment = next(each for (kind, name), each in objects(ci_values()["minimal"]).items()
                      if kind == "Deployment" and name.endswith(f"-{role}"))
    container, = deployment["spec"]["template"]["spec"]["containers"]
    return {"periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3, "successThreshold": 1,
            **container["readinessProbe"]}


class Kubelet:
    """Probes one daemon, which was ready, until it is ended."""

    def __init__(self, daemon, role):
        self.daemon, self.in_service, self.asked, self.left_service = daemon, True, 0, []
        self._probe = probe_of(role)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def end(self):
        self._end.set()
        self._thread.join()

    def leaves_after(self):
        """Seconds that a daemon which is not ready stays in the Service at most."""
        return self._probe["failureThreshold"] * (self._probe["periodSeconds"] + self._probe["timeoutSeconds"])

    def _run(self):
        in_a_row = 0
        while not self._end.wait(self._probe["periodSeconds"]):
            ready = self._ask()
            self.asked += 1
            in_a_row = 0 if ready == self.in_service else in_a_row + 1
            if in_a_row < self._probe["successThreshold" if ready else "failureThreshold"]:
                continue
            self.in_service, in_a_row = ready, 0
            if not ready:
                self.left_service.append(time.monotonic())

    def _ask(self):
        try:
            path = self._probe["httpGet"]["path"]
            return self.daemon.get(path, self._probe["timeoutSeconds"])[0] in range(200, 400)
        except OSError:
            return False


class Readiness(Reading):
    api_processes = 2

    @classmethod
    def made_graph(cls):
        return {author: set(READERS) for author in AUTHORS}

    def setUp(self):
        super().setUp()
        self.posts = self.publish_all(list(AUTHORS))
        self.settle()
        for reader in READERS:
            self.live(reader)
        self.kubelets = [Kubelet(api, "api") for api in self.apis]
        for role, daemons in (("dispatcher", self.fleet.dispatchers), ("pusher", self.fleet.pushers),
                              ("mirror", self.fleet.mirrors)):
            self.kubelets += [Kubelet(daemon, role) for daemon in daemons]
        for kubelet in self.kubelets:
            self.addCleanup(kubelet.end)
        self.longest = max(kubelet.leaves_after() for kubelet in self.kubelets)

    def hang(self, service):
        service.pause()
        self.addCleanup(service.resume)

    def assert_live_pages(self):
        for reader in READERS:
            page = self.get(f"{reader}/timeline?limit=5")
            self.assertEqual((page["state"], page["items"][0]["id"]), ("live", str(self.posts[-1])))

    @long
    def test_one_shard_of_two_hangs_and_nobody_leaves_the_service(self):
        here = [user for user in READERS if shard_of(user) == 0]
        there = next(user for user in READERS if shard_of(user) == 1)
        self.hang(self.stack.mysql[1])
        self.publish_all(list(AUTHORS))  # so that everybody asks both shards
        for number, api in enumerate(self.apis):
            self.wait_for(lambda: "mysql_1" in api.named(), f"API {number} to notice", 20)
        end = time.monotonic() + self.longest + 5
        follows = 0
        while time.monotonic() < end:
            self.assert_some_pages()
            for user in here:
                follows += self.client.put(f"/v1/users/{user}/following/{900_000 + follows}").status == 200
                self.assertEqual(self.client.get(f"/v1/users/{user}/counts").status, 200)
            self.assertEqual(self.client.get(f"/v1/users/{there}/counts").status, 503)
            time.sleep(0.2)
        self.assertGreater(follows, 100)
        for kubelet in self.kubelets:
            self.assertGreater(kubelet.asked, 3, kubelet.daemon.name)
            self.assertEqual(kubelet.left_service, [], kubelet.daemon.name)
        for daemon in (*self.apis, *self.fleet.dispatchers):
            self.assertEqual(list(daemon.named()), ["mysql_1"], daemon.name)
            self.assertEqual(daemon.scrape().total("fanline_reachable", resource="mysql_1"), 0)
            self.assertEqual(daemon.scrape().total("fanline_reachable", resource="mysql_0"), 1)

    def assert_some_pages(self):
        """What is new comes meanwhile; each reader's page is live all the same."""
        for reader in READERS:
            self.assertEqual(self.get(f"{reader}/timeline?limit=5")["state"], "live")

    def test_all_shards_hang_and_live_pages_are_served_and_only_without_redis_nobody(self):
        api = self.apis[0]
        for shard in self.stack.mysql:
            self.hang(shard)
        self.wait_for(lambda: {"mysql_0", "mysql_1"} <= set(api.named()), "the API to notice", 20)
        self.assertEqual(api.status("/readyz"), 200)
        self.assert_live_pages()
        self.hang(self.stack.redis)
        self.wait_for(lambda: not any(kubelet.in_service for kubelet in self.kubelets[:2]),
                      "the APIs to leave the Service", 3 * self.longest)
        self.assertEqual(set(api.named()), {"mysql_0", "mysql_1", "redis"})
        for service in (*self.stack.mysql, self.stack.redis):
            service.resume()
        self.wait_for(lambda: all(kubelet.in_service for kubelet in self.kubelets), "all to be back")
