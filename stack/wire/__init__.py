"""Clients of a few lines for probes and tests; they need nothing but Python."""
