"""A start that fails says why, and does not wait for the starts beside it."""

import os
import tempfile
import threading
import unittest
from unittest import mock

from stack.local_stack import LocalStack, ServiceFailed
from stack.ports import Ports
from stack.services.service import Service
from stack.tests.outside import MEMORY
from stack.waiting import wait_until
from stack.workspace import Workspace


class NeverReady(Service):
    start_timeout = 1000

    def prepare(self):
        pass

    def argv(self):
        return ["sleep", "1000"]

    def answers(self):
        return False


class FailedStart(unittest.TestCase):
    def test_the_service_at_fault_is_named_with_its_last_words(self):
        stack = LocalStack(shards=0, redis_args=["--no-such-setting", "1"], say=lambda line: None)
        with self.assertRaisesRegex(ServiceFailed, "(?s)^redis ended with code 1 .*no-such-sett"):
            stack.start()

    @mock.patch.dict(os.environ, {"FANLINE_STACK_SQL": "postgres"})
    def test_a_server_nobody_knows_is_refused(self):
        with self.assertRaisesRegex(ServiceFailed, "^FANLINE_STACK_SQL is postgres; it may be mariadb or mysql$"):
            LocalStack(say=lambda line: None).start()

    def test_a_redis_nobody_knows_is_refused(self):
        with mock.patch.dict(os.environ, {"FANLINE_STACK_REDIS": "dragonfly"}), \
                self.assertRaisesRegex(ServiceFailed, "^FANLINE_STACK_REDIS is dragonfly; it may be redis or valkey$"):
            LocalStack(shards=0, say=lambda line: None).start()

    def test_a_start_can_be_given_up_from_another_thread(self):
        holder = tempfile.TemporaryDirectory(prefix="fanline-test-", dir=MEMORY)
        self.addCleanup(holder.cleanup)
        workspace, ports = Workspace(holder.name), Ports()
        self.addCleanup(ports.close)
        service, outcome = NeverReady("idler", workspace, ports, env={}), []

        def start():
            try:
                service.start()
            except ServiceFailed as error:
                outcome.append(str(error))

        starting = threading.Thread(target=start)
        starting.start()
        wait_until(lambda: service.running, 120, "the idler to run")
        service.abandon()
        starting.join(10)
        self.assertRegex("".join(outcome), "^idler ended with code -9 instead of serving")
        with self.assertRaisesRegex(ServiceFailed, "its start was given up"):
            service.start()
