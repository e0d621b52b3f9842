from prometheus.grafana.panels import (COUNT, PER_SECOND, RATIO, SECONDS, Dashboard, Panel, Query, highest, rate,
                                       series, total)

STORES = Dashboard("fanline-stores", "Fanline / Kafka, Redis, shards", "The services, as the daemons find them", (
    ("Who is away", (
        Panel("Services that answer", RATIO, "Share of the daemons that get answers, by service. Redis of a Cluster: any node that is away.",
              (Query(f"avg by (resource) ({series('fanline_reachable')})", "{{resource}}"),), width=12),
        Panel("Work put off", PER_SECOND, "Because a service was away, by service. `fence`: another pusher owns the range.",
              (Query(rate("fanline_parked_total", "resource"), "{{resource}}"),), width=12),
        Panel("Work that waits", COUNT, "Events and hints that wait for a service.",
              (Query(total("fanline_events_parked", "job"), "{{job}} events"), Query(total("fanline_hints_parked"), "hints")), width=12),
        Panel("Requests it cost", PER_SECOND, "What a service did not do for a request of the API.",
              (Query(rate("fanline_api_store_failures_total", "resource"), "{{resource}}"),), width=12),
    )),
    ("Kafka", (
        Panel("Lag in seconds", SECONDS, "How long the oldest record that is not committed has been in its log.",
              (Query(highest("fanline_lag_seconds", "job, topic"), "{{job}} {{topic}}"),)),
        Panel("Lag in records", COUNT, "Between the committed offsets and the logs' ends.",
              (Query(total("fanline_lag_records", "job, topic"), "{{job}} {{topic}}"),), log=True),
        Panel("Retention used", RATIO, "The lag's share of the topic's retention. At 100 % Kafka deletes what nobody has read.",
              (Query(f"max by (topic) ({series('fanline_lag_seconds')} / {series('fanline_log_retention_seconds')})", "{{topic}}"),)),
        Panel("Retention", SECONDS, "How long each topic keeps its records.",
              (Query(highest("fanline_log_retention_seconds", "topic"), "{{topic}}"),), log=True),
        Panel("Partitions that cannot be read", COUNT, "Their log is corrupt where it must be read on.",
              (Query(total("fanline_partitions_parked", "topic"), "{{topic}}"),)),
        Panel("Lost records", PER_SECOND, "Offsets cut off before they were read, and logs that lost their tail.",
              (Query(rate("fanline_events_lost_total", "job"), "{{job}} offsets"), Query(rate("fanline_log_tails_lost_total", "job"), "{{job}} tails"))),
    )),
    ("Redis", (
        Panel("Ranges of which Redis lost something", PER_SECOND, "By what was found.", (Query(rate("fanline_redis_losses_total", "cause"), "{{cause}}"),)),
        Panel("Dropped since Redis is full", PER_SECOND, "Timelines; their readers are pulled until there is room.",
              (Query(rate("fanline_timelines_dropped_full_total"), "timelines"),)),
        Panel("Slots left between nodes", COUNT, "Ranges of a Redis Cluster.", (Query(highest("fanline_ranges_left_migrating"), "ranges"),)),
    )),
    ("Shards", (
        Panel("Shards that answer", RATIO, "Share of the daemons that get answers.",
              (Query(f"""avg by (resource) ({series('fanline_reachable', 'resource=~"mysql_.+"')})""", "{{resource}}"),)),
        Panel("Changes of log1 under way", COUNT, "By shard.", (Query(total("fanline_rel_log1_pending_rows", "shard"), "shard {{shard}}"),)),
        Panel("Work put off", PER_SECOND, "By shard.", (Query(rate("fanline_parked_total", "resource"), "{{resource}}"),)),
    )),
))
