"""make bench: what deliveries cost on this machine, beside plain ZADD in the same run. run.py is
the list of rows; docs/benchmarks.md says how to read them."""
