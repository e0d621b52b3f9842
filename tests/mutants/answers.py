"""Drawn mutants that no test can kill, each with the reason: they behave as the code does.

Keyed by (file, find, replace), so that an answer goes when the text does.
"""

ANSWERS = {}
