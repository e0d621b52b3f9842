"""Mutants: the production code with one exact text replaced. A test has to fail for each (`make
mutants`).

by_hand.py lists the few that take a guard away which matters most. operators.py draws all others by
a seed. workbench.py builds and tests one. run.py is the command, and answers.py says of each drawn
one that survives why it is equivalent.
"""
