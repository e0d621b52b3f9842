"""A real Kafka broker, a real Redis and real MariaDB or MySQL shards on this machine, for as long as a
test, a demo or a bench needs them.

    from stack.local_stack import LocalStack, wait_until

    with LocalStack(shards=2) as stack:
        pusher = stack.spawn("pusher", ["build/release/bin/fanline-pusher"])
        stack.redis.kill()
        stack.redis.start()  # same port, and what it had saved
        wait_until(lambda: stack.redis.command("DBSIZE") > 0, 10, "timelines to come back")

`LocalStack(cluster=True)` has a Redis Cluster of three masters and three replicas in place of the
one node (services/redis_cluster.py: who serves a slot, moving one, a failover).

From the shell: `stack/with-stack PROGRAM ARGS...` for one program; `stack/play up` and `stack/play
down` (`make up`, `make down`) for a stack that stays. `stack/setup` installs what all of this
needs, by packages.list and kafka/pom.xml; `stack/unstable` gets MySQL.

Where to look: local_stack.py is the whole; services/ has one module per service; process.py, tag.py
and watchdog.py are why nothing is ever left running; ports.py and workspace.py are why two stacks
never meet; wire/ holds clients of a few lines, so that Python needs no package to probe or to ask.
"""
