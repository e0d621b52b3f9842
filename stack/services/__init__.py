"""One module per service: how it is configured, started and asked whether it serves."""
