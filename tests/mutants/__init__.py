"""Mutants: the production code with one exact text replaced. A test has to fail for each (`make
mutants`).

by_hand.py lists those that take a guard, a commit point, an order of two effects, a comparison of
versions or a bound away. operators.py draws more of them by a seed. workbench.py builds and tests
one. run.py is the command, and answers.py says of each drawn one that survives why it is equivalent.
"""
