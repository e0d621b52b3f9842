from prometheus.grafana.panels import (BYTES, COUNT, PER_SECOND, RATIO, SECONDS, Dashboard, Panel, Query, halves, highest, quantile,
                                       rate, series, total)

PAGES = 'route=~"getTimeline|getPosts|countTimeline|countPosts"'

TIMELINES = Dashboard("fanline-timelines", "Fanline / Timelines", "What readers are served, and what live timelines go through", (
    ("Pages", (
        Panel("Home pages", PER_SECOND, "From Redis (`live`); pulled while the timeline is made live (`building`); `pulled`, and it is not. "
              "`incomplete`: of these and of counts, those that may lack posts: a shard is away, or the range lags.",
              (Query(rate("fanline_api_home_pages_total", "state"), "{{state}}"),
               Query(rate("fanline_api_incomplete_pages_total"), "incomplete"))),
        Panel("A page's time", SECONDS, "From a request that was read to its answer, p99.",
              (Query(quantile(0.99, "fanline_api_request_seconds", "route", PAGES), "{{route}}"),), log=True),
        Panel("Pages from shards", RATIO, "Share of home pages that are not from live timelines.",
              (Query(f"{rate('fanline_api_home_pages_total', more='state!=' + chr(34) + 'live' + chr(34))} / {rate('fanline_api_home_pages_total')}", "share"),)),
        Panel("Pages with bodies", PER_SECOND, "Asked for with bodies: `complete`, or served without (`unavailable`).",
              (Query(rate("fanline_api_body_pages_total", "bodies"), "{{bodies}}"),)),
        Panel("Bodies gone", PER_SECOND, "Posts left out as the application's table has them no more. A rate that stays: deletes are not published.",
              (Query(rate("fanline_api_bodies_gone_total"), "posts"),)),
    )),
    ("Rebuilds", (
        Panel("Rebuilds", PER_SECOND, "Timelines made live behind an answer, or not, by what came of it.",
              (Query(rate("fanline_api_rebuilds_total", "result"), "{{result}}"),)),
        Panel("Readers who wait", COUNT, "For their timelines to be made live. When it stays high: more `--rebuild-threads`.",
              (Query(total("fanline_api_rebuilds_waiting"), "readers"),)),
    )),
    ("The API", (
        Panel("Requests", PER_SECOND, "By operation.", (Query(rate("fanline_api_requests_total", "route"), "{{route}}"),), log=True),
        Panel("Answers", PER_SECOND, "By status.", (Query(rate("fanline_api_requests_total", "status"), "{{status}}"),), log=True),
        Panel("A request's time", SECONDS, "All operations.", halves("fanline_api_request_seconds"), log=True),
        Panel("Connections", COUNT, "Clients connected.", (Query(total("fanline_api_connections"), "clients"),)),
        Panel("Clients too many", PER_SECOND, "Told 503, or given the place of an idle one.",
              (Query(rate("fanline_api_connections_refused_total"), "refused"),
               Query(rate("fanline_api_connections_closed_idle_total"), "idle, closed"))),
        Panel("Open requests", COUNT, "Read and not answered yet; of them, those that wait for a store, and those whose clients have left.",
              (Query(total("fanline_api_requests_open"), "open"),
               Query(total("fanline_api_requests_waiting", "store"), "wait for {{store}}"),
               Query(total("fanline_api_requests_left"), "left"))),
        Panel("Unread answers", BYTES, "Kept because clients have not taken them. Above 128 MiB pages come without bodies.",
              (Query(total("fanline_api_unread_bytes"), "unread"),)),
        Panel("What stores did not do", PER_SECOND, "For a request, by store; `none`: a fault that is nobody's.",
              (Query(rate("fanline_api_store_failures_total", "resource"), "{{resource}}"),)),
    )),
    ("Compared with the truth", (
        Panel("Misses", COUNT, "Of 10,000 live items of the timelines compared last so many are missing. 0 is the only good value.",
              (Query(highest("fanline_audit_misses_per_10000"), "missing of 10,000"),
               Query(total("fanline_audit_wrong_timelines"), "timelines with anything wrong"))),
        Panel("Timelines compared", PER_SECOND, "Compared with the truth, by what came of it.",
              (Query(rate("fanline_audit_timelines_total", "result"), "{{result}}"),)),
        Panel("Items compared", PER_SECOND, "Items compared; those found missing, and those that should not be there.",
              (Query(rate("fanline_audit_items_total"), "compared"), Query(rate("fanline_audit_missing_total"), "missing"),
               Query(rate("fanline_audit_surplus_total"), "surplus")), log=True),
        Panel("Last round", SECONDS, "How long ago the newest round of feedctl audit --watch ended.",
              (Query(f"time() - max ({series('fanline_audit_last_round_timestamp_seconds')})", "ago"),)),
    )),
    ("Live timelines", (
        Panel("Items removed", PER_SECOND, "Deleted, hidden, unfollowed.", (Query(rate("fanline_items_removed_total"), "items"),)),
        Panel("Timelines cut", PER_SECOND, "Cut back to the window; deleted below half a window; deleted since Redis is full; dropped by takeovers.",
              (Query(rate("fanline_timelines_trimmed_total"), "trimmed"), Query(rate("fanline_timelines_fell_short_total"), "fell short"),
               Query(rate("fanline_timelines_dropped_full_total"), "Redis full"), Query(rate("fanline_timelines_dropped_total"), "dropped"))),
        Panel("Keys that are no timeline", PER_SECOND, "Posts that could not be put into timelines.",
              (Query(rate("fanline_deliveries_total", more='result="key_failed"'), "posts"),)),
    )),
))
