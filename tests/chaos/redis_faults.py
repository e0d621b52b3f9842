"""What breaks of the Redis Cluster. Each fault ends with a Cluster that is whole: three masters,
each with a replica that follows it. What it has lost meanwhile it has lost."""

import time

from stack.waiting import wait_until
from stack.wire.redis import RedisError

FAILOVER_WITHIN_S = 30
WHOLE_WITHIN_S = 90
MOVED_FIRST = 5  # keys of a slot, before it is left half-way for a while


class RedisFaults:
    """Needs self.rig and self.stack. A fault's target names a range; it concerns its master."""

    def failover(self, fault):
        """The master dies; it comes back as a replica."""
        master = self._master(fault)
        master.kill()
        self._wait_other(fault, master)
        time.sleep(fault.seconds)
        self._heal()

    def lagging_failover(self, fault):
        """The replica that takes over never got what the master was written for so long."""
        master = self._master(fault)
        replica = self.stack.redis.let_lag(master)
        time.sleep(fault.seconds)
        master.kill()
        replica.resume()
        self._wait_other(fault, master)
        self._heal()

    def orderly_failover(self, fault):
        master = self._master(fault)
        self.stack.redis.replica_of(master).command("CLUSTER", "FAILOVER")
        time.sleep(fault.seconds)
        self._heal()

    def hang_master(self, fault):
        """Above the Cluster's time-out of a second it is another's replica when it goes on."""
        master = self._master(fault)
        master.pause()
        time.sleep(fault.seconds)
        master.resume()
        self._heal()

    def restart_master(self, fault):
        """Back before anybody takes over: empty, unless it writes a log."""
        master = self._master(fault)
        master.kill()
        time.sleep(fault.seconds)
        self._heal()

    def pair_away(self, fault):
        """The master and its replica."""
        master = self._master(fault)
        pair = [master, self.stack.redis.replica_of(master)]
        for node in pair:
            node.kill()
        time.sleep(fault.seconds)
        self._heal()

    def all_away(self, fault):
        """Every node at once."""
        self.stack.redis.kill()
        time.sleep(fault.seconds)
        self._heal()

    def flush(self, fault):
        self._master(fault).command("FLUSHALL")

    def reshard(self, fault):
        """A range's slot moves to another master, with a pause half-way."""
        redis, slot = self.stack.redis, self.rig.slot_of(fault.target)
        source = self._master(fault)
        target = next(master for master in redis.masters() if master is not source)
        redis.begin_move(slot, target)
        redis.move_keys(slot, target, most=MOVED_FIRST)
        time.sleep(fault.seconds)
        wait_until(lambda: self._finish_move(slot, target), WHOLE_WITHIN_S, "a slot to move")
        self._heal()

    def reshard_failover(self, fault):
        """The master that a slot moves to dies half-way; its replica gets the rest."""
        redis, slot = self.stack.redis, self.rig.slot_of(fault.target)
        source = self._master(fault)
        target = next(master for master in redis.masters() if master is not source)
        heir = redis.replica_of(target)
        redis.begin_move(slot, target)
        redis.move_keys(slot, target, most=MOVED_FIRST)
        target.kill()
        wait_until(lambda: heir in redis.masters(), FAILOVER_WITHIN_S,
                   f"{heir.name} to take over")
        time.sleep(fault.seconds)
        redis.begin_move(slot, heir)
        wait_until(lambda: self._finish_move(slot, heir), WHOLE_WITHIN_S, "a slot to move")
        target.start()
        time.sleep(fault.seconds)
        wait_until(lambda: self._rejoin(target, slot, heir), WHOLE_WITHIN_S,
                   f"{target.name} to follow {heir.name}")
        self._heal()

    @staticmethod
    def _rejoin(node, slot, heir):
        """What an operator types: until then it goes on importing the slot, and is a master of
        nothing, with keys that are no longer its."""
        try:
            if "role:slave" in node.command("INFO", "replication"):
                return True
            node.command("CLUSTER", "SETSLOT", slot, "STABLE")
            node.command("FLUSHALL")
            node.command("CLUSTER", "REPLICATE", heir.id)
        except RedisError:
            pass  # it has not heard yet that its slots are another's
        return False

    def _finish_move(self, slot, target):
        try:
            self.stack.redis.move_keys(slot, target)
            self.stack.redis.end_move(slot, target)
            return True
        except RedisError as error:
            # A key was written since the last look.
            if "hash slot" not in str(error) and "BUSYKEY" not in str(error):
                raise
            return False

    def _master(self, fault):
        slot = self.rig.slot_of(fault.target)
        return wait_until(lambda: self.stack.redis.owner_if_any(slot), FAILOVER_WITHIN_S,
                          f"a master of slot {slot}")

    def _wait_other(self, fault, master):
        slot = self.rig.slot_of(fault.target)
        wait_until(lambda: self.stack.redis.owner_if_any(slot) not in (None, master),
                   FAILOVER_WITHIN_S, f"another master of slot {slot}")

    def _heal(self):
        redis = self.stack.redis
        for node in redis.nodes:
            if node.running:
                node.resume()
        redis.start()
