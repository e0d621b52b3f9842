from prometheus.grafana.panels import (BYTES, COUNT, PER_SECOND, RATIO, SECONDS, Dashboard, Panel,
                                       Query, highest, rate, series, total)

OURS = 'job=~".*fanline.*"'

FLEET = Dashboard("fanline-fleet", "Fanline / Fleet", "Whether users get what they should, and the daemons", (
    ("What users feel", (
        Panel("Delivery lag", SECONDS, "How long the oldest event and the oldest hint that nobody has finished wait together.",
              (Query(highest("namespace:fanline_delivery_lag_seconds:sum"), "lag"),), "stat", 4, bad_above=10),
        Panel("Last delivery, p99", SECONDS, "Of sampled posts: from the event's record until every live timeline has the post.",
              (Query(highest("namespace:fanline_publish_to_last_delivery_seconds:p99_5m"), "p99"),), "stat", 4, bad_above=10),
        Panel("Late posts", RATIO, "Share of sampled posts of the last hour that took more than ten seconds. The objective is 1 %.",
              (Query(highest("namespace:fanline_late_posts:ratio_rate1h"), "late"),), "stat", 4, bad_above=0.01),
        Panel("API errors", RATIO, "Share of requests of the last hour that were answered with a 5xx. The objective is 0.1 %.",
              (Query(highest("namespace:fanline_api_errors:ratio_rate1h"), "5xx"),), "stat", 4, bad_above=0.001),
        Panel("Ranges without an owner", COUNT, "Their readers get no posts.",
              (Query(f"max ({series('fanline_ranges')}) - {total('fanline_ranges_ready')}", "ranges"),), "stat", 4, bad_above=1),
        Panel("Alerts that fire", COUNT, "Of this installation, pages and tickets.",
              (Query('count (ALERTS{alertname=~"Fanline.+", alertstate="firing", namespace=~"$namespace"}) or vector(0)', "alerts"),),
              "stat", 4, bad_above=1),
    )),
    ("Deliveries", (
        Panel("Events and deliveries", PER_SECOND, "Events taken from the log, and posts put into live timelines.",
              (Query(total("namespace:fanline_events:rate5m"), "events"),
               Query(total("namespace:fanline_deliveries:rate5m"), "deliveries")), log=True),
        Panel("Where posts wait", SECONDS, "Age of the oldest event that no dispatcher has finished, and of the oldest hint that no pusher has.",
              (Query(highest("namespace:fanline_feed_lag_seconds:max"), "events"),
               Query(highest("namespace:fanline_hint_lag_seconds:max"), "hints"))),
        Panel("Publish to last delivery", SECONDS, "Of sampled posts, over five minutes.",
              (Query(highest("namespace:fanline_publish_to_last_delivery_seconds:p50_5m"), "p50"),
               Query(highest("namespace:fanline_publish_to_last_delivery_seconds:p99_5m"), "p99")), log=True),
        Panel("Burn of the delivery budget", COUNT, "1: the budget of 30 days lasts just as long. A page at 14.4 (an hour) and at 6 (six hours).",
              tuple(Query(f"{highest(f'namespace:fanline_late_posts:ratio_rate{window}')} / 0.01", window)
                    for window in ("5m", "1h", "6h", "3d"))),
        Panel("Burn of the API's budget", COUNT, "1: the budget of 30 days lasts just as long. A page at 14.4 (an hour), a ticket at 6 (six hours).",
              tuple(Query(f"{highest(f'namespace:fanline_api_errors:ratio_rate{window}')} / 0.001", window)
                    for window in ("5m", "30m", "1h", "6h"))),
        Panel("Dead letters", PER_SECOND, "Events and hints that could not be used. They wait for `feedctl dlq`.",
              (Query(rate("fanline_events_rejected_total", "job"), "{{job}}"),
               Query(rate("fanline_hints_quarantined_total"), "hints"))),
    )),
    ("Daemons", (
        Panel("Daemons that answer", COUNT, "By job.", (Query(total("up", "job", OURS), "{{job}}"),)),
        Panel("Conditions of readiness that do not hold", COUNT, "Daemons by the condition that they name on /readyz; none is good.",
              (Query(f"count by (condition) ({series('fanline_ready')} == 0)", "{{condition}}"),)),
        Panel("Versions", COUNT, "Daemons by version.", (Query(f"count by (version) ({series('fanline_build_info')})", "{{version}}"),)),
        Panel("Processor time", COUNT, "Cores, by job.", (Query(rate("process_cpu_seconds_total", "job", OURS), "{{job}}"),)),
        Panel("Memory", BYTES, "Resident, of the largest daemon of a job.",
              (Query(highest("process_resident_memory_bytes", "job", OURS), "{{job}}"),)),
        Panel("File descriptors", RATIO, "Open ones of those allowed, of the daemon that has used most.",
              (Query(f"max by (job) ({series('process_open_fds', OURS)} / {series('process_max_fds', OURS)})", "{{job}}"),)),
        Panel("Starts", COUNT, "How often a daemon began anew within an hour, by job.",
              (Query(f"sum by (job) (changes({series('process_start_time_seconds', OURS)}[1h]))", "{{job}}"),)),
    )),
))
