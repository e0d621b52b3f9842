"""The network between programs and services, and what goes wrong in it."""
