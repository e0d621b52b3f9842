"""Every row of the bench on a tiny installation comes complete and in shape (bench_test.py: some)."""

import unittest

from tests.e2e.bench_test import Bench

SHARES, ENCODINGS = ("live100", "live20", "live5"), ("compact", "skiplist")
ROWS = ({f"timeline_bytes_{encoding}" for encoding in ENCODINGS}
        | {f"deliveries_{share}_{encoding}" for share in SHARES for encoding in ENCODINGS}
        | {*(f"deliveries_{share}_compact_cold" for share in ("live20", "live5")), "dead_cost_ratio",
           "dead_cost_ratio_same_hints",
           *(f"celebrity_live5{what}" for what in ("", "_time", "_first", "_churn")), "takeover_live100k",
           "rss_pusher_full_mb", "deliveries_live100_compact_hints_only", "deliveries_live100_compact_one_post",
           *(f"redis_us_{part}" for part in ("keys", "item", "head", "length", "whole")),
           *(f"cpu_per_event_{share}" for share in ("half", "quarter", "tenth")),
           *(f"latency_{share}_rate{suffix}" for share in ("half", "quarter", "tenth")
             for suffix in ("", "_p99")),
           "last_fifth_of_a_million", "rss_dispatcher_mb", "rss_pusher_mb", "dispatch_cost_ratio",
           "follow_async", "follow_sync",
           "cluster_vs_single", "backlog_drain", "backlog_drain_rss_mb", "recovery_failover",
           "recovery_kill", "handover_gap", "import_rows",
           *(f"rebuild{p99}_{followees}" for p99 in ("", "_p99") for followees in (10, 200, 2_000)),
           "page_library", "page_http", "page_p99_under_fanout", "page_below_floor", "hybrid_page",
           "page_reposts", "page2_reposts", "page_folded", "page_below_floor_reposts",
           *(f"fairness_{what}_live{percent}" for what in ("p99_ratio", "fanout") for percent in ("5", "5_unlisted", "100")),
           *(f"edge_{what}_{when}{p99}" for what in ("row", "hint") for when in ("alone", "load")
             for p99 in ("", "_p99")), "edge_cpu_load", "edge_drain_1", "edge_drain_2",
           *(f"edge_{what}_log{p99}" for what in ("row", "hint") for p99 in ("", "_p99")), "edge_cpu_log",
           "follow_async_log", "full_scan", "full_scan_nibbles", "full_scan_cost", "log_scan",
           "scale_pushers", "sweep_p99_ratio", "storm_live", "storm_pushes", "storm_pages",
           *(f"peer_{who}_{share}" for share in ("live100", "live5")
             for who in ("lpushx", "exists", "misskey", "mastodon", "mastodon_queue", "mastodon_sql", "ring",
                         "stream_framework", "stream_framework_plus")),
           *(f"peer_pull_{share}_{reads}" for share in ("live100", "live5")
             for reads in ("tenth", "1", "10", "100")),
           *(f"event_cost_{block}_{share}" for block in ("few", "moderate", "live20", "live100")
             for share in ("half", "tenth")),
           "capacity_redis_bytes", *(f"capacity_{what}_{authors}" for authors in ("even", "followed")
                                     for what in ("cores", "lag", "lag_p99"))})


class BenchWholeTest(Bench):
    rows_named = ()
    rows_made = ROWS

    def test_every_row_is_there_and_in_shape(self):
        self.check_rows()
