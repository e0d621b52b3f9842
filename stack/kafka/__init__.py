"""The broker: which one, and how its start is made cheap."""
