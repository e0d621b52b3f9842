"""The harness tested on real services."""
